// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/process.hpp"

namespace kymo {

/// What a process and its descendants have used so far, and what they are doing.
struct ProcessActivity {
  std::int64_t processor_ns = 0;  ///< includes descendants that have ended and whose parents waited for them
  std::int64_t reads = 0;         ///< bytes read from disk, plus page faults that read: only changes have a meaning
  bool uses_processor = false;    ///< a thread is running or waits for a processor
  bool waits_for_disk = false;    ///< a thread is in uninterruptible sleep
};

/// Returns the activity of a process and its descendants, given all processes.
ProcessActivity activity_of_tree(pid_t root, const std::vector<ProcessEntry>& all);

/// Measures how long processes did nothing, from samples of their activity. Time in which they run, wait for a
/// processor or wait for the disk does not count, so a process that works is not idle on a busy machine, either.
class IdleTime {
 public:
  explicit IdleTime(std::int64_t start_ns) : last_ns_(start_ns) {}
  void add(const ProcessActivity& activity, std::int64_t now_ns);
  /// The total time asleep or, if that is more, the time since anything was computed or read, in which they may have
  /// waited for a disk that does not answer.
  double seconds() const;

 private:
  ProcessActivity last_;
  std::int64_t last_ns_;
  std::int64_t asleep_ns_ = 0;
  std::int64_t without_progress_ns_ = 0;
};

}  // namespace kymo
