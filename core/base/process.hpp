// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kymo {

/// What a process printed.
struct ProcessOutput {
  std::string stdout_text;
  std::string stderr_text;
};

/// How a process ended.
struct ProcessEnd {
  std::optional<int> exit_code;  ///< set if it exited by itself
  std::optional<int> signal;     ///< set if a signal ended it
  std::string describe() const;  ///< "exit code 3", "signal 11 (Segmentation fault)"
};

struct SpawnOptions {
  std::vector<std::string> command;  ///< absolute program, then its arguments
  std::vector<std::pair<std::string, std::string>>
      environment;  ///< added to, or replacing in, the caller's environment
  bool die_with_parent =
      true;  ///< parent-death signal; it follows the calling thread, so spawn from one that outlives the child
};

/// A child in its own process group with stdin from /dev/null and stdout and stderr on pipes of the parent.
struct Child {
  pid_t pid = -1;  ///< also the id of its process group
  int stdout_fd = -1;
  int stderr_fd = -1;
};

/// fork + exec; throws Error if the program cannot be started. The caller owns the descriptors.
Child spawn(const SpawnOptions& options);

/// Sends a signal to the whole process group; false if it is gone.
bool signal_group(pid_t group, int signal);

/// Reaps the child if it has ended; never blocks.
std::optional<ProcessEnd> try_reap(pid_t pid);

/// Result of a short-lived command run to its end.
struct CommandResult {
  ProcessEnd end;
  bool timed_out = false;
  std::string stdout_text;  ///< bounded to 8 MiB
  std::string stderr_text;  ///< bounded to 1 MiB
};

/// Runs a command with a deadline in seconds; its group is killed when the deadline passes.
CommandResult run_command(const SpawnOptions& options, double deadline_s);

/// The path of the running program.
std::filesystem::path own_executable();

/// Resident set size of a process in bytes; nullopt if it is gone.
std::optional<std::int64_t> resident_bytes(pid_t pid);

}  // namespace kymo
