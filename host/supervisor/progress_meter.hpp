// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "measure/protocol.hpp"
#include "supervisor/runs.hpp"

namespace kymo::supervisor {

/// Progress to display while runs are executed. Delivered in the supervisor's thread.
struct ProgressView {
  std::size_t run_index = 0;
  std::size_t run_count = 0;  ///< 0 = unknown
  std::string title;          ///< workload and the parameters that vary
  std::string stage;          ///< as in protocol::Progress
  std::int64_t step = -1;
  std::int64_t steps = 0;
  double seconds_left = -1;  ///< estimate for all remaining runs; -1 = unknown
  double share_done = -1;    ///< of the whole; -1 = as the runs and steps say
  bool may_end_earlier = false;
};

/// One title per run: the workload and the parameters that vary among its runs.
std::vector<std::string> run_titles(const std::vector<PlannedRun>& runs);

/// Reports progress to the caller at most ten times per second and estimates the remaining time. Times are seconds of
/// any steady clock.
class ProgressMeter {
 public:
  ProgressMeter(const std::vector<PlannedRun>& runs, std::function<void(const ProgressView&)> show);

  void begin_run(std::size_t index, double now_s);
  void begin_pass(std::size_t index, std::size_t count);
  void update(const measure::protocol::Progress& progress, double now_s);
  void end_run(double now_s);
  /// Reports progress that was held back by the rate limit.
  void tick(double now_s);

 private:
  double seconds_left(double now_s) const;
  double run_fraction() const;

  std::function<void(const ProgressView&)> show_;
  std::vector<std::string> titles_;
  ProgressView view_;
  std::size_t pass_ = 0;
  std::size_t passes_ = 1;
  double run_start_s_ = 0;
  double finished_s_ = 0;  ///< total time of the finished runs
  std::size_t finished_ = 0;
  double shown_s_ = -1e9;
  bool stale_ = false;
};

}  // namespace kymo::supervisor
