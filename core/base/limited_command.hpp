// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/process.hpp"

namespace kymo {

/// Limits of a command with its descendants that do not depend on how busy the machine is, in seconds.
struct CommandLimits {
  double processor_s = 0;  ///< processor time
  double idle_s = 0;       ///< time without work, see IdleTime: a command that hangs or sleeps
};

enum class CommandLimit { kProcessorTime, kIdleTime };

struct LimitedCommand {
  SpawnOptions options;
  CommandLimits limits;
};

struct LimitedResult {
  std::string not_started;  ///< the reason, if the command could not be started
  ProcessEnd end;
  std::optional<CommandLimit> exceeded;  ///< the command was killed for it
  std::string stdout_text;               ///< truncated to 8 MiB
  std::string stderr_text;               ///< truncated to 1 MiB
};

/// Runs commands, at most `at_once` at a time, in their order. None of the processes that a command started outlives
/// it. `on_end` is called with the index of each command that has ended; `on_wait` from time to time, at least every
/// 20 ms on an idle machine.
void run_limited(const std::vector<LimitedCommand>& commands, std::size_t at_once,
                 const std::function<void(std::size_t, const LimitedResult&)>& on_end,
                 const std::function<void()>& on_wait);

}  // namespace kymo
