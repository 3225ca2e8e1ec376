// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/error.hpp"
#include "report/build.hpp"

namespace kymo::report {
namespace {

// Numbers names in order of first occurrence.
class Numbering {
 public:
  std::uint32_t number(const std::string& name) {
    const auto [found, is_new] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return found->second;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

class TimelineBuilder {
 public:
  TimelineBuilder(const QueryFile& query, const Result& result, const std::string& panel)
      : result_(result),
        lane_(require_column(query, result, "lane")),
        start_(require_column(query, result, "start_ns")),
        end_(require_column(query, result, "end_ns")),
        label_(require_column(query, result, "label")),
        class_(require_column(query, result, "class")),
        detail_(find_column(result, "detail")),
        group_(find_column(result, "group")),
        step_(find_column(result, "step")),
        run_(find_column(result, "run")),
        rank_(find_column(result, "rank")),
        scope_(find_column(result, "scope")),
        phase_(find_column(result, "phase")),
        event_(find_column(result, "event")),
        launched_by_(find_column(result, "launched_by")),
        called_by_(find_column(result, "called_by")) {
    if (panel.empty()) return;
    panel_ = require_column(query, result, panel);
    timeline_.panels = true;
    if (step_)
      throw UsageError(query.name +
                       ": a panel of a timeline shows a single step; remove the column 'step' from the query");
  }

  Timeline build() {
    timeline_.bars.reserve(result_.rows.size());
    for (const auto& row : result_.rows) add(row);
    gather_groups();
    order_classes();
    return std::move(timeline_);
  }
  std::int64_t incomplete() const { return incomplete_; }
  std::int64_t reversed() const { return reversed_; }

 private:
  using Row = std::vector<ResultCell>;

  void add(const Row& row) {
    const auto start = integer_of(row[start_]);
    const auto end = integer_of(row[end_]);
    if (!start || !end) {
      ++incomplete_;
      return;
    }
    if (*end < *start) ++reversed_;
    TimelineBar bar;
    bar.start_ns = *start;
    bar.end_ns = std::max(*start, *end);
    bar.lane = lane_of(row);
    bar.bar_class = classes_.number(label_of(row[class_]));
    bar.label = timeline_.texts.intern(row[label_].type == ResultCell::Type::kNull ? "–" : text_of(row[label_]));
    bar.detail = text_in(row, detail_);
    bar.scope = text_in(row, scope_);
    bar.phase = text_in(row, phase_);
    if (step_) bar.step = integer_of(row[*step_]).value_or(TimelineBar::kNoStep);
    const std::string owner = recorder_of(row);
    bar.event = event_in(row, event_, owner);
    bar.launched_by = event_in(row, launched_by_, owner);
    bar.called_by = event_in(row, called_by_, owner);
    timeline_.bars.push_back(bar);
  }

  event::TextId text_in(const Row& row, const std::optional<std::size_t>& column) {
    return column ? timeline_.texts.intern(text_of(row[*column])) : event::kNoText;
  }

  // Names of events are unique within a rank of a run.
  std::string recorder_of(const Row& row) const {
    return (run_ ? text_of(row[*run_]) : "") + '\n' + (rank_ ? text_of(row[*rank_]) : "") + '\n';
  }
  std::uint32_t event_in(const Row& row, const std::optional<std::size_t>& column, const std::string& recorder) {
    if (!column || row[*column].type == ResultCell::Type::kNull) return TimelineBar::kNoEvent;
    return events_.number(recorder + label_of(row[*column]));
  }

  std::uint32_t lane_of(const Row& row) {
    Lane lane{label_of(row[lane_]), group_ ? text_of(row[*group_]) : "", panel_ ? label_of(row[*panel_]) : "",
              run_ ? text_of(row[*run_]) : "", rank_ ? integer_of(row[*rank_]) : std::nullopt};
    const auto next = static_cast<std::uint32_t>(timeline_.lanes.size());
    const auto [found, is_new] = lanes_.try_emplace({lane.panel, lane.run, lane.rank, lane.group, lane.name}, next);
    if (is_new) timeline_.lanes.push_back(std::move(lane));
    return found->second;
  }

  // Keeps the order of lanes, but groups them by panel and run, then by rank and, within a rank, by group. Panels, runs
  // and groups are at the position of their first lane, ranks in their order.
  void gather_groups() {
    std::vector<Lane>& lanes = timeline_.lanes;
    Numbering panels, runs, groups;
    std::vector<std::tuple<std::uint32_t, std::uint32_t, std::optional<std::int64_t>, std::uint32_t>> group_of;
    for (const Lane& lane : lanes)
      group_of.emplace_back(panels.number(lane.panel), runs.number(lane.run), lane.rank, groups.number(lane.group));
    std::vector<std::uint32_t> order(lanes.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&group_of](std::uint32_t a, std::uint32_t b) { return group_of[a] < group_of[b]; });
    std::vector<std::uint32_t> position(lanes.size());
    std::vector<Lane> sorted;
    for (const std::uint32_t lane : order) {
      position[lane] = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(std::move(lanes[lane]));
    }
    lanes = std::move(sorted);
    for (TimelineBar& bar : timeline_.bars) bar.lane = position[bar.lane];
  }

  // Assigns the first, most distinguishable palette colors to the classes with the most time.
  void order_classes() {
    const std::vector<std::string>& names = classes_.names();
    std::vector<double> time(names.size(), 0);
    for (const TimelineBar& bar : timeline_.bars) time[bar.bar_class] += span_ns(bar.start_ns, bar.end_ns);
    std::vector<std::uint32_t> order(names.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&time](std::uint32_t a, std::uint32_t b) { return time[a] > time[b]; });
    std::vector<std::uint32_t> position(names.size());
    for (const std::uint32_t each : order) {
      position[each] = static_cast<std::uint32_t>(timeline_.classes.size());
      timeline_.classes.push_back(names[each]);
    }
    for (TimelineBar& bar : timeline_.bars) bar.bar_class = position[bar.bar_class];
  }

  const Result& result_;
  std::size_t lane_, start_, end_, label_, class_;
  std::optional<std::size_t> detail_, group_, step_, run_, rank_, scope_, phase_, event_, launched_by_, called_by_;
  std::optional<std::size_t> panel_;
  Timeline timeline_;
  Numbering classes_;
  Numbering events_;
  std::map<std::tuple<std::string, std::string, std::optional<std::int64_t>, std::string, std::string>, std::uint32_t>
      lanes_;
  std::int64_t incomplete_ = 0;
  std::int64_t reversed_ = 0;
};

}  // namespace

namespace {

std::vector<CounterLane> counters_from(const QueryFile& query, const Result& result) {
  const std::size_t name = require_column(query, result, "name");
  const std::size_t time = require_column(query, result, "time_ns");
  const std::size_t value = require_column(query, result, "value");
  const auto unit = find_column(result, "unit"), run = find_column(result, "run"), rank = find_column(result, "rank");
  std::vector<CounterLane> counters;
  std::map<std::tuple<std::string, std::optional<std::int64_t>, std::string>, std::size_t> known;
  for (const auto& row : result.rows) {
    const auto at = integer_of(row[time]);
    const auto height = number_of(row[value]);
    if (!at || !height) continue;
    CounterLane lane{label_of(row[name]), unit ? text_of(row[*unit]) : "", run ? text_of(row[*run]) : "",
                     rank ? integer_of(row[*rank]) : std::nullopt};
    const auto [found, is_new] = known.try_emplace({lane.run, lane.rank, lane.name}, counters.size());
    if (is_new) counters.push_back(std::move(lane));
    counters[found->second].values.emplace_back(*at, *height);
  }
  for (CounterLane& lane : counters)
    std::stable_sort(lane.values.begin(), lane.values.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  return counters;
}

}  // namespace

std::vector<RecordedPass> recorded_passes(const Result& result) {
  const auto run = find_column(result, "run_id"), pass = find_column(result, "pass"), name = find_column(result, "run");
  std::vector<RecordedPass> passes;
  if (!run || !pass) return passes;
  std::set<std::pair<std::int64_t, std::string>> known;
  for (const auto& row : result.rows) {
    const auto id = integer_of(row[*run]);
    if (!id || !known.insert({*id, text_of(row[*pass])}).second) continue;
    passes.push_back({*id, text_of(row[*pass]), name ? text_of(row[*name]) : ""});
  }
  return passes;
}

std::optional<Chart> build_timeline(const QueryFile& query, const Result& result, const std::string& panel,
                                    const Counters& counters) {
  TimelineBuilder builder(query, result, panel);
  Chart chart;
  chart.kind = ChartKind::kTimeline;
  chart.caption = query.caption;
  chart.timeline = builder.build();
  if (counters.result != nullptr) chart.timeline.counters = counters_from(*counters.query, *counters.result);
  chart.passes = recorded_passes(result);
  if (chart.timeline.bars.empty()) return std::nullopt;
  chart.caption += left_out(builder.incomplete(), "row without a start or an end", "rows without a start or an end");
  if (builder.reversed() > 0)
    chart.caption +=
        " Rows that end before they start are drawn with zero length: " + std::to_string(builder.reversed()) + ".";
  return chart;
}

}  // namespace kymo::report
