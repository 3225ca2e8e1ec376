// SPDX-License-Identifier: Apache-2.0
#include "store/retention.hpp"

#include <cmath>

#include "base/error.hpp"
#include "measure/statistics.hpp"
#include "store/open.hpp"

namespace kymo::store {
namespace {

/// Durations of the measured steps of a pass on its slowest rank.
using StepTimes = std::map<std::int64_t, double>;

void add_step_times(const std::filesystem::path& file, const RankFileName& whose,
                    std::map<std::string, StepTimes>& passes) {
  try {
    const auto source = open_rank_file(file, own_schema());
    Statement steps(*source,
                    "SELECT step, host_ns FROM main.sample WHERE run_id = ? AND rank = ? AND pass = ? AND phase = "
                    "'step' AND warmup = 0");
    steps.bind_all(whose.run_id, whose.rank, whose.pass);
    StepTimes& times = passes[whose.pass];
    while (steps.step()) times[steps.integer(0)] = std::max(times[steps.integer(0)], steps.real(1));
  } catch (const Error&) {
    // The import records the file as a DroppedRecords entry.
  }
}

std::int64_t middle_step(const StepTimes& times) {
  std::vector<double> values;
  for (const auto& [step, time] : times) values.push_back(time);
  const double median = measure::summarize(values).median;
  auto nearest = times.begin();
  for (auto each = times.begin(); each != times.end(); ++each) {
    if (std::abs(each->second - median) < std::abs(nearest->second - median)) nearest = each;
  }
  return nearest->first;
}

/// The rows of a rank file that belong to a step.
class StepRows {
 public:
  StepRows(const Connection& source, const RankFileName& whose, std::int64_t step)
      : owner_("run_id = " + std::to_string(whose.run_id) + " AND rank = " + std::to_string(whose.rank) +
               " AND pass = '" + whose.pass + "'"),
        step_(std::to_string(step)) {
    Statement window(source, "SELECT start_ns, start_ns + host_ns FROM main.sample WHERE " + owner_ +
                                 " AND phase = 'step' AND step = ?");
    if (!window.bind(1, step).step()) return;  // this rank did not finish the step: the interval is empty
    begin_ = window.text(0);
    end_ = window.text(1);
  }

  std::string of(Extent extent) const {
    switch (extent) {
      case Extent::kNoEvent:
        return "true";
      case Extent::kStep:
        return "step = " + step_;
      case Extent::kMoment:
        return "(step = " + step_ + " OR stage <> '')";
      case Extent::kTime:
        return "start_ns < " + end_ + " AND end_ns > " + begin_;
      case Extent::kLifetime:
        return "alloc_ns < " + end_ + " AND coalesce(free_ns, " + end_ + ") > " + begin_;
      case Extent::kStack:
        return "stack IN (SELECT stack FROM main.allocation WHERE " + owner_ + " AND " + of(Extent::kLifetime) +
               " UNION ALL SELECT stack FROM main.op WHERE " + owner_ + " AND " + of(Extent::kStep) +
               " UNION ALL SELECT stack FROM main.gpu_activity WHERE " + owner_ + " AND " + of(Extent::kStep) + ")";
      case Extent::kFrame:
        break;
    }
    return "frame IN (SELECT frame FROM main.stack WHERE " + owner_ + " AND " + of(Extent::kStack) + ")";
  }

 private:
  std::string owner_;
  std::string step_;
  std::string begin_ = "0";
  std::string end_ = "0";
};

}  // namespace

Retention choose_retention(Keep keep, std::int64_t run_id, const std::vector<std::filesystem::path>& rank_files) {
  Retention retention{keep, {}};
  if (keep != Keep::kOneStep) return retention;
  std::map<std::string, StepTimes> passes;
  for (const auto& file : rank_files) {
    const auto whose = parse_rank_file_name(file);
    if (whose && whose->run_id == run_id) add_step_times(file, *whose, passes);
  }
  for (const auto& [pass, times] : passes) {
    if (!times.empty()) retention.steps[pass] = middle_step(times);
  }
  return retention;
}

std::optional<std::string> retained_rows(const Retention& retention, const Connection& source,
                                         const RankFileName& whose, const Table& table) {
  if (retention.keep == Keep::kAll || !table.is_event()) return "";
  if (retention.keep == Keep::kSummary) return std::nullopt;
  const auto step = retention.steps.find(whose.pass);
  if (step == retention.steps.end()) return "";
  return StepRows(source, whose, step->second).of(table.extent());
}

void drop_summarized_events(const Connection& results, std::int64_t run_id, Keep keep) {
  if (keep != Keep::kSummary) return;
  for (const char* table : {"sample", "gpu_sample", "gpu_utilization", "memory_counter", "step_duration"})
    Statement(results, std::string("DELETE FROM main.") + table + " WHERE run_id = ?").bind(1, run_id).run();
}

}  // namespace kymo::store
