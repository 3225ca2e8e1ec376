// SPDX-License-Identifier: Apache-2.0
#include "worker/control_client.hpp"

#include <vector>

#include "base/clock.hpp"

namespace kymo::worker {
namespace {

// The fastest of this many round trips is rarely delayed.
constexpr int kQuestions = 16;

}  // namespace

std::optional<event::ClockSync> compare_with_supervisor(ControlClient& control, std::int64_t run_start_ns) {
  const std::string own_boot = boot_id();
  std::vector<ClockReading> readings;
  for (int i = 0; i < kQuestions; ++i) {
    const std::int64_t asked_ns = now_ns();
    const auto answer = control.request_clock();
    const std::int64_t answered_ns = now_ns();
    if (!answer) return std::nullopt;
    readings.push_back({asked_ns, answered_ns, answer->clock_ns});
    if (!own_boot.empty() && answer->boot_id == own_boot && is_same_clock(readings))
      return event::ClockSync{event::kSupervisorClock, answer->clock_ns - run_start_ns, answer->clock_ns, 0};
  }
  const ClockPair pair = closest_pair(readings);
  return event::ClockSync{event::kSupervisorClock, pair.host_ns - run_start_ns, pair.clock_ns, pair.error_ns};
}

std::optional<std::int64_t> to_supervisor_clock(ControlClient& control, std::int64_t host_ns) {
  const auto sync = compare_with_supervisor(control, 0);
  if (!sync) return std::nullopt;
  return host_ns + sync->clock_ns - sync->host_ns;
}

}  // namespace kymo::worker
