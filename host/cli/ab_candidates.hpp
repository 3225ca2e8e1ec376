// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/run_options.hpp"
#include "supervisor/runs.hpp"

/// What `kymo ab` compares. A candidate with a space is a command.
namespace kymo::cli {

enum class CandidateKind {
  kWorkloads,
  kPrograms,  ///< PyTorch programs, whose steps are compared
  kWholeCommands,
};

/// Options of `kymo ab` for whole commands.
struct CommandOptions {
  bool all = false;  ///< --command: every candidate is one
  std::string prepare = {};
  bool ignore_failure = false;
  bool store_output = false;
};

/// Commands are programs if each of them starts a Python script or module, or if the number of their steps is given.
/// Throws UsageError if some candidates are commands and others are not, and for commands with quotes that are not
/// closed.
CandidateKind kind_of(const std::vector<std::string>& candidates, const CommandOptions& commands,
                      const RunOptions& options);

/// One planned run for each program: its time pass, in a process of its own. `ranks`: empty, as the commands say.
/// Throws UsageError for options that only apply to workloads or whole commands, and if two commands are the same.
std::vector<supervisor::PlannedRun> planned_programs(const std::vector<std::string>& candidates,
                                                     std::optional<std::int64_t> ranks, const RunOptions& options);

/// Whether a command needs a shell: it has characters that a shell interprets, or its first word sets a variable or is
/// no program.
bool needs_shell(const std::string& command);

/// One planned run for each command. If one needs a shell, all are run by one, so that its start does not decide.
/// Throws UsageError for options that do not apply, and if there is no such program.
std::vector<supervisor::PlannedRun> planned_commands(const std::vector<std::string>& candidates,
                                                     const CommandOptions& commands, const RunOptions& options);

}  // namespace kymo::cli
