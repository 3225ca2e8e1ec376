// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/option_text.hpp"
#include "supervisor/runs.hpp"

namespace kymo::plan {

/// An observed program, as the command line states it.
struct ProgramRequest {
  std::vector<std::string> command;  ///< may begin with variables of its environment, NAME=VALUE, as in a shell
  DeviceChoice device = DeviceChoice::kAuto;
  std::optional<std::int64_t> ranks = {};  ///< empty: as the command says
};

/// The run of a program, without its method and label. Its parameters are the arguments and the environment; the hash
/// is that of the script and the versions of Python and torch. Throws UsageError if there is no such program.
supervisor::PlannedRun plan_program(const ProgramRequest& request);

/// What the method of every program has: unsynchronized steps in a process of its own, without limits.
measure::Method program_method();

/// The words of a command without those in front of the program that set variables of its environment: NAME=VALUE, also
/// after `env`.
std::vector<std::string> without_environment(const std::vector<std::string>& command);

/// Splits the text of a command as a shell does, without expanding anything. Throws UsageError if a quote is not
/// closed.
std::vector<std::string> shell_words(const std::string& text);

}  // namespace kymo::plan
