// SPDX-License-Identifier: Apache-2.0
#include "worker/synced_steps.hpp"

#include "base/clock.hpp"
#include "measure/statistics.hpp"

namespace kymo::worker {
namespace {

/// A step that takes fewer times as long as an empty interval is too short to be timed on its own.
constexpr std::int64_t kMinEmptyIntervals = 20;

}  // namespace

void SyncedSteps::end() {
  constexpr int kIntervals = 15;
  std::vector<std::int64_t> times;
  for (int i = 0; i < kIntervals; ++i) {
    const std::int64_t begin_ns = now_ns();
    if (timer_) timer_->synchronize();
    times.push_back(now_ns() - begin_ns);
  }
  empty_interval_ns_ = measure::median(times);
}

void SyncedSteps::add_records(event::PassRecord& record, std::optional<std::int64_t> step_ns) const {
  if (!step_ns || *step_ns >= kMinEmptyIntervals * empty_interval_ns_) return;
  measure::Method hot = assignment_.method;
  hot.timing = measure::Timing::kHot;
  const std::string problem = measure::timing_error(hot, assignment_.what, step_properties(workload_.table()));
  record.warnings.push_back(
      {"short steps",
       "a step takes " + std::to_string(*step_ns) + " ns, and timing it on its own " +
           std::to_string(empty_interval_ns_) + " ns; " +
           (problem.empty() ? "use --timing hot" : "let a step do more (not --timing hot: " + problem + ")")});
}

}  // namespace kymo::worker
