// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "event/records.hpp"

/// How the system scheduled this process while steps ran: whether they waited for a processor.
namespace kymo::worker {

/// What all threads of this process used so far (getrusage).
struct ProcessUsage {
  std::int64_t cpu_ns = 0;                ///< user and system time
  std::int64_t involuntary_switches = 0;  ///< times that a thread had to leave its processor although it could run
};
ProcessUsage process_usage();
ProcessUsage operator-(const ProcessUsage& later, const ProcessUsage& earlier);

/// Collects, for blocks of at least 50 ms of steps, how long the threads of this process waited in a run queue. Reads
/// /proc between two steps.
class SchedulingLog {
 public:
  static constexpr std::int64_t kUsualShare = 100;

  /// A block takes at least `cost_share` times as long as reading /proc.
  explicit SchedulingLog(std::filesystem::path proc = "/proc", std::int64_t cost_share = kUsualShare)
      : proc_(std::move(proc)), cost_share_(cost_share) {}

  /// Begins the first block before a step.
  void begin(std::int64_t now_ns);
  /// Adds steps to the block, and ends the block if it is long enough. `usage` is that of the steps alone. Returns true
  /// if it read /proc.
  bool add(std::int64_t last_step, std::int64_t steps, const ProcessUsage& usage, std::int64_t now_ns);
  /// Ends the last block after the last step.
  void end(std::int64_t now_ns);
  /// Returns the blocks, with times relative to run_start_ns.
  std::vector<event::Scheduling> take(std::int64_t run_start_ns);

 private:
  using ThreadWaits = std::map<std::int64_t, std::int64_t>;  // ns in run queues since the thread began, by thread id

  void end_block(std::int64_t now_ns);
  /// Empty if the system does not count waits.
  std::optional<ThreadWaits> thread_waits() const;
  std::optional<std::int64_t> pressure_ns() const;

  std::filesystem::path proc_;
  std::int64_t cost_share_;
  std::vector<event::Scheduling> blocks_;
  event::Scheduling block_;
  std::optional<ThreadWaits> waits_;         // at the begin of the block
  std::optional<std::int64_t> pressure_ns_;  // at the begin of the block
  std::int64_t interval_ns_ = 0;
};

}  // namespace kymo::worker
