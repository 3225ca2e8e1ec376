// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "base/process.hpp"

namespace kymo::supervisor {

class ProcessReaper;

/// One execution of a command.
struct MeasuredCommand {
  pid_t pid = -1;
  ProcessEnd end;
  std::int64_t begin_ns = 0;      ///< host clock, right before the program began
  std::int64_t wall_ns = 0;       ///< without the time for which kymo was suspended
  std::int64_t processor_ns = 0;  ///< user and system time of the command and of the processes that it waited for
  /// Peak of the largest of these processes; empty if it is hardly above that of the process in which the command
  /// began.
  std::optional<std::int64_t> resident_peak_bytes;
  ProcessOutput output;    ///< bounded
  std::string last_lines;  ///< of its stderr
};

/// Runs a command until it ends, then ends what it left running in its process group. `signal` is called at least every
/// 50 ms and returns the signal to send to the group, or 0. Throws Error if the command cannot be started.
MeasuredCommand measure_command(const SpawnOptions& options, ProcessReaper& reaper, const std::function<int()>& signal);

}  // namespace kymo::supervisor
