// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "measure/protocol.hpp"
#include "supervisor/supervisor.hpp"

namespace kymo::supervisor {

/// Workload and the parameters in which it differs from the other runs of the same workload; one title per run.
std::vector<std::string> run_titles(const std::vector<PlannedRun>& runs);

/// Tells the caller how far the work is, at most ten times a second, and estimates what is left.
/// Times are seconds on any steady clock.
class ProgressMeter {
 public:
  ProgressMeter(const std::vector<PlannedRun>& runs, std::function<void(const ProgressView&)> show);

  void begin_run(std::size_t index, double now_s);
  void begin_pass(std::size_t index, std::size_t count);
  void update(const measure::protocol::Progress& progress, double now_s);
  void end_run(double now_s);
  /// Shows what was held back.
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
  double finished_s_ = 0;  ///< time that the finished runs took
  std::size_t finished_ = 0;
  double shown_s_ = -1e9;
  bool stale_ = false;
};

}  // namespace kymo::supervisor
