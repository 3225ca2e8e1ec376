// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kymo {

/// Output of a process.
struct ProcessOutput {
  std::string stdout_text;
  std::string stderr_text;
};

/// Exit status of a process.
struct ProcessEnd {
  std::optional<int> exit_code;  ///< set if the process exited
  std::optional<int> signal;     ///< set if the process was terminated by a signal
  std::string describe() const;  ///< for example "exit code 3" or "signal 11 (Segmentation fault)"
};

struct SpawnOptions {
  std::vector<std::string> command;  ///< the program, as for find_program(), then its arguments
  std::vector<std::pair<std::string, std::string>>
      environment;               ///< added to the caller's environment; overrides existing variables
  bool die_with_parent = true;   ///< sets the parent-death signal, which is tied to the calling thread: spawn from a
                                 ///< thread that outlives the child
  bool inherit_streams = false;  ///< the child has the caller's stdin, stdout and stderr; if stdin is the terminal, its
                                 ///< group becomes that of the foreground, which receives Ctrl-C
  bool discard_stdout = false;   ///< its stdout is /dev/null instead of a pipe
  bool end_descendants = false;  ///< a reaper process between the caller and the command: docs/decisions/0004
};

/// A child process in its own process group. With end_descendants, this is the reaper: it ends as the command ended,
/// after it has killed all processes that the command started, and SIGTERM makes it kill the command, too. Unless it
/// inherits the streams, its stdin is /dev/null, and its stdout and stderr are pipes to the parent.
struct Child {
  pid_t pid = -1;      ///< also the process group id
  int stdout_fd = -1;  ///< -1 if it inherits the streams
  int stderr_fd = -1;
  std::int64_t exec_ns = 0;  ///< host clock, right before the program took the place of the forked process
  // What the forked process used until then, which the system counts as the program's:
  std::int64_t processor_ns_before = 0;
  std::int64_t resident_peak_bytes_before = 0;
};

/// Returns the executable that a word stands for: a path is used as it is, a name is looked up in PATH. Empty elements
/// of PATH, which mean the current directory, are ignored, because files of others may be there.
std::optional<std::filesystem::path> find_program(const std::string& name);

/// Starts a process with fork and exec. The caller owns the file descriptors. Throws Error if the program cannot be
/// started.
Child spawn(const SpawnOptions& options);

/// Makes a process group that of the foreground of the terminal, if stdin is one. 0: the caller's.
void give_terminal(pid_t group);

/// True once after a child was stopped from its terminal, such as by Ctrl-Z.
bool was_stopped_by_terminal(pid_t pid);

/// Sends a signal to a process group. Returns false if the group no longer exists.
bool signal_group(pid_t group, int signal);

/// True if this wait status is a stop, not the end, of a child that requested tracing; lets the child continue.
/// Async-signal-safe.
bool continued_after_stop(pid_t pid, int status);

/// Appends the available output, at most 4 MiB of it, to `text` up to a bound in bytes and discards the rest. Never
/// blocks on the stream of a Child. Returns false at end of file.
bool drain(int fd, std::string& text, std::size_t bound);

inline constexpr std::size_t kMaxStdoutBytes = 8u << 20;
inline constexpr std::size_t kMaxStderrBytes = 1u << 20;

/// User and system time.
std::int64_t processor_ns(const rusage& usage);

/// How a process ended, from its wait status.
ProcessEnd end_from(int status);

/// Reaps the child if it has exited. Never blocks.
std::optional<ProcessEnd> try_reap(pid_t pid);

/// Result of a completed command.
struct CommandResult {
  ProcessEnd end;
  bool timed_out = false;
  std::string stdout_text;  ///< truncated to 8 MiB
  std::string stderr_text;  ///< truncated to 1 MiB
};

/// Runs a command and kills its process group if it exceeds the deadline, in seconds.
CommandResult run_command(const SpawnOptions& options, double deadline_s);

/// Returns the path of the running program.
std::filesystem::path own_executable();

/// Returns the resident set size of a process in bytes, or nullopt if the process no longer exists.
std::optional<std::int64_t> resident_bytes(pid_t pid);

/// A process as listed in /proc.
struct ProcessEntry {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  char state = 0;                 ///< of the main thread. Z: it has ended and waits for its parent
  std::int64_t processor_ns = 0;  ///< time of the process and of the children it has waited for; multiples of 10 ms
  std::int64_t page_reads = 0;    ///< page faults that read from disk, counted in the same way
  std::string name;
};

/// Returns all visible processes.
std::vector<ProcessEntry> list_processes();

/// Adds the descendants of these processes.
void add_descendants(const std::vector<ProcessEntry>& all, std::set<pid_t>& processes);

/// Returns the process, the processes of its group and the descendants of all of these.
std::vector<pid_t> process_tree(pid_t pid);

/// Returns the memory of these processes in bytes; pages that several of them share count once. Walks their page
/// tables, which takes about 10 ms for 10 GB.
std::int64_t proportional_bytes(const std::vector<pid_t>& processes);

}  // namespace kymo
