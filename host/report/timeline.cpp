// SPDX-License-Identifier: Apache-2.0
#include "report/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <set>

#include "report/palette.hpp"

namespace kymo::report {
namespace {

struct Occupied {
  std::int64_t end_ns;
  std::int64_t start_ns;
  std::uint32_t row;
  bool operator>(const Occupied& other) const {
    return end_ns != other.end_ns ? end_ns > other.end_ns : start_ns > other.start_ns;
  }
};

// Assigns the bars of one lane to rows, in order of their starts.
class RowStack {
 public:
  explicit RowStack(std::uint32_t max_rows) : most_rows_(max_rows) {}

  // The row of the bar, or max_rows if none is free.
  std::uint32_t assign_row(const TimelineBar& bar) {
    // A zero-length bar still occupies its instant: a second one at the same time goes to the next row.
    while (!occupied_.empty() && occupied_.top().end_ns <= bar.start_ns && occupied_.top().start_ns < bar.start_ns) {
      free_rows_.insert(occupied_.top().row);
      occupied_.pop();
    }
    if (free_rows_.empty() && rows_ == most_rows_) return most_rows_;
    const std::uint32_t row = free_rows_.empty() ? rows_++ : free_rows_.extract(free_rows_.begin()).value();
    occupied_.push({bar.end_ns, bar.start_ns, row});
    return row;
  }
  std::uint32_t rows() const { return rows_; }

 private:
  std::uint32_t most_rows_;
  std::uint32_t rows_ = 0;
  std::set<std::uint32_t> free_rows_;
  std::priority_queue<Occupied, std::vector<Occupied>, std::greater<>> occupied_;
};

std::vector<std::uint32_t> in_order(const std::vector<TimelineBar>& bars) {
  std::vector<std::uint32_t> order(bars.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&bars](std::uint32_t left, std::uint32_t right) {
    const TimelineBar& a = bars[left];
    const TimelineBar& b = bars[right];
    if (a.lane != b.lane) return a.lane < b.lane;
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    return a.end_ns != b.end_ns ? a.end_ns > b.end_ns : left < right;
  });
  return order;
}

double length_ns(const TimelineBar& bar) { return span_ns(bar.start_ns, bar.end_ns); }

// Computes the runs of one track.
class TrackMerger {
 public:
  TrackMerger(const Timeline& timeline, const TimelineTrack& track, std::uint32_t number, std::int64_t origin_ns,
              double cell_ns)
      : timeline_(timeline), track_(track), number_(number), origin_ns_(origin_ns), cell_ns_(cell_ns) {}

  void append_to(std::vector<TimelineRun>& runs) {
    const std::size_t begin = runs.size();
    for (std::uint32_t i = 0; i < track_.bars.size();) {
      TimelineRun run = length_ns(bar(i)) >= cell_ns_ ? whole(i) : cell(i);
      i = run.first + run.bars;
      const bool joins = runs.size() > begin && narrow_ && last_narrow_ && runs.back().bar_class == run.bar_class &&
                         run.start_ns - runs.back().end_ns < cell_ns_;
      last_narrow_ = narrow_;
      if (joins) {
        runs.back().bars += run.bars;
        runs.back().end_ns = run.end_ns;
      } else {
        runs.push_back(run);
      }
    }
  }

 private:
  const TimelineBar& bar(std::uint32_t i) const { return timeline_.bars[track_.bars[i]]; }
  double start_of(std::uint32_t i) const { return span_ns(origin_ns_, bar(i).start_ns); }
  double end_of(std::uint32_t i) const { return span_ns(origin_ns_, bar(i).end_ns); }

  TimelineRun whole(std::uint32_t i) {
    narrow_ = false;
    return {number_, i, 1, bar(i).bar_class, start_of(i), end_of(i)};
  }

  // The narrow bars that start in the same cell as bar i.
  TimelineRun cell(std::uint32_t i) {
    narrow_ = true;
    const double limit = (std::floor(start_of(i) / cell_ns_) + 1) * cell_ns_;
    std::map<std::uint32_t, double> time;
    TimelineRun run{number_, i, 0, 0, start_of(i), end_of(i)};
    std::uint32_t next = i;
    do {
      time[bar(next).bar_class] += length_ns(bar(next));
      run.end_ns = end_of(next);
      ++run.bars;
      ++next;
    } while (next < track_.bars.size() && start_of(next) < limit && length_ns(bar(next)) < cell_ns_);
    run.bar_class = std::max_element(time.begin(), time.end(), [](const auto& a, const auto& b) {
                      return a.second < b.second;
                    })->first;
    return run;
  }

  const Timeline& timeline_;
  const TimelineTrack& track_;
  std::uint32_t number_;
  std::int64_t origin_ns_;
  double cell_ns_;
  bool narrow_ = false;
  bool last_narrow_ = false;
};

}  // namespace

std::size_t colour_of_class(const Timeline& timeline, std::size_t bar_class) {
  return bar_class < timeline.colours.size() ? timeline.colours[bar_class] : class_colour(bar_class);
}

double span_ns(std::int64_t from_ns, std::int64_t to_ns) {
  const auto from = static_cast<std::uint64_t>(from_ns);
  const auto to = static_cast<std::uint64_t>(to_ns);
  return to_ns >= from_ns ? static_cast<double>(to - from) : -static_cast<double>(from - to);
}

TimelineLayout lay_out(const Timeline& timeline, std::uint32_t max_rows) {
  TimelineLayout layout;
  layout.rows.assign(timeline.lanes.size(), 0);
  std::vector<std::vector<TimelineTrack>> of_lane(timeline.lanes.size());
  std::vector<RowStack> stacks(timeline.lanes.size(), RowStack(max_rows));
  for (const std::uint32_t i : in_order(timeline.bars)) {
    const std::uint32_t lane = timeline.bars[i].lane;
    const std::uint32_t row = stacks[lane].assign_row(timeline.bars[i]);
    if (row == max_rows) {
      ++layout.too_deep;
      continue;
    }
    if (row == of_lane[lane].size()) of_lane[lane].push_back({lane, row, {}});
    of_lane[lane][row].bars.push_back(i);
  }
  for (std::size_t lane = 0; lane < of_lane.size(); ++lane) {
    layout.rows[lane] = stacks[lane].rows();
    std::move(of_lane[lane].begin(), of_lane[lane].end(), std::back_inserter(layout.tracks));
  }
  return layout;
}

std::int64_t keep_longest(std::vector<TimelineBar>& bars, std::size_t limit) {
  if (bars.size() <= limit) return 0;
  std::vector<std::uint32_t> order(bars.size());
  std::iota(order.begin(), order.end(), 0u);
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(limit), order.end(),
                   [&bars](std::uint32_t a, std::uint32_t b) {
                     const double left = length_ns(bars[a]);
                     const double right = length_ns(bars[b]);
                     return left != right ? left > right : a < b;
                   });
  order.resize(limit);
  std::sort(order.begin(), order.end());
  const auto gone = static_cast<std::int64_t>(bars.size() - limit);
  std::vector<TimelineBar> kept;
  kept.reserve(limit);
  for (const std::uint32_t i : order) kept.push_back(bars[i]);
  bars = std::move(kept);
  return gone;
}

std::int64_t origin_of(const Timeline& timeline) {
  std::int64_t first = timeline.panels || timeline.bars.empty() ? 0 : INT64_MAX;
  for (const TimelineBar& bar : timeline.bars) first = std::min(first, bar.start_ns);
  return first;
}

std::vector<TimelineRun> merged_runs(const Timeline& timeline, const TimelineLayout& layout, std::int64_t origin_ns,
                                     double cell_ns) {
  std::vector<TimelineRun> runs;
  for (std::size_t i = 0; i < layout.tracks.size(); ++i)
    TrackMerger(timeline, layout.tracks[i], static_cast<std::uint32_t>(i), origin_ns, cell_ns).append_to(runs);
  return runs;
}

std::vector<TimelineRun> merged_runs_within(const Timeline& timeline, const TimelineLayout& layout,
                                            std::int64_t origin_ns, double cell_ns, std::size_t most) {
  constexpr double kGrowth = 1.5;
  std::vector<TimelineRun> runs = merged_runs(timeline, layout, origin_ns, cell_ns);
  while (runs.size() > std::max(most, 2 * layout.tracks.size())) {
    cell_ns *= kGrowth;
    runs = merged_runs(timeline, layout, origin_ns, cell_ns);
  }
  return runs;
}

}  // namespace kymo::report
