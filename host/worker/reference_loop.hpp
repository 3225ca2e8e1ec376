// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "event/records.hpp"
#include "worker/scheduling.hpp"

/// How fast the processor is while steps run: beside a busy thread of the same core, or at a lower clock, a step takes
/// longer although neither waits for a processor.
namespace kymo::worker {

/// Time of a fixed loop, in ns. The loop has eight independent chains of integer operations in
/// registers, more than a core executes at once, so that it notices whatever takes execution slots from it, and it
/// leaves the caches as they are. Takes about 15 µs. The loop must never change: runs of different versions of kymo are
/// compared.
std::int64_t reference_loop_ns();

/// Measures the loop before the first measured step, after the last one, and between steps.
class ReferenceLog {
 public:
  /// Shortest time between two measurements, in ns: they take at most 0.4 % of the time.
  static constexpr std::int64_t kIntervalNs = 4'000'000;
  /// Shortest time between two checks of the threads, in ns, which also take at most one part in kCheckShare of the
  /// time.
  static constexpr std::int64_t kCheckNs = 20'000'000;
  static constexpr std::int64_t kCheckShare = 1000;

  explicit ReferenceLog(std::filesystem::path proc = "/proc") : proc_(std::move(proc)) {}

  /// Measures before a step; `last_step` is the one before, or -1.
  void begin(std::int64_t last_step, std::int64_t now_ns);
  /// Measures if the last measurement was long enough ago. `usage` and `elapsed_ns` are those of the steps since the
  /// last call.
  void add(std::int64_t last_step, const ProcessUsage& usage, std::int64_t elapsed_ns, std::int64_t now_ns);
  /// Measures after the last step.
  void end(std::int64_t last_step);
  /// Returns the measurements, or none if the steps hardly used a processor: their time does not depend on it.
  std::vector<event::ReferenceLoop> take();

 private:
  void measure(std::int64_t last_step);
  /// Keeps the measurements since the last check, unless another thread of this process is running or waits for a
  /// processor: one of a pool that spins until the next step would be taken for another process.
  void check_threads();
  bool another_thread_runs() const;

  std::filesystem::path proc_;
  std::vector<event::ReferenceLoop> loops_, unchecked_;
  std::int64_t due_ns_ = 0, check_due_ns_ = 0;
  std::int64_t measured_after_ = -2;  // step
  std::int64_t cpu_ns_ = 0, elapsed_ns_ = 0;
};

}  // namespace kymo::worker
