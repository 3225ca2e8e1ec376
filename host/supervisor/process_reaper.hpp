// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

namespace kymo::supervisor {

/// Keeps track of the processes that workers start, so that none of them outlives a run. While it exists, this process
/// adopts their orphans (it is a child subreaper), and a child process waits for its death: if the supervisor is
/// killed, the parent-death signal ends the workers, and this child ends the processes that they started. Create it
/// before other threads and signal handlers exist, at most one per process at a time, and destroy it in the thread that
/// created it.
class ProcessReaper {
 public:
  /// Environment variable of the workers by which their processes are found, and its value.
  static constexpr const char* kVariable = "KYMO_SUPERVISOR";
  const std::string& value() const { return value_; }

  /// Forks the reaper. Throws Error.
  ProcessReaper();
  /// Ends the reaper, which kills the groups it still watches.
  ~ProcessReaper();
  ProcessReaper(const ProcessReaper&) = delete;
  ProcessReaper& operator=(const ProcessReaper&) = delete;

  /// Adds the process group of a worker.
  void watch(pid_t group);
  /// Call this before the group's leader is reaped, so that its process id cannot be reused.
  void forget(pid_t group);

  /// True if a worker has started a process that left its group.
  bool has_detached() const;
  /// Kills orphans until there are none. Returns the command names of those that had left the group of their worker.
  std::vector<std::string> end_detached();
  /// Stops all workers and this process until it is continued. Deadlines do not advance in the meantime.
  void suspend() const;

 private:
  void send_message(pid_t message);
  bool is_orphan(pid_t pid, pid_t parent) const;

  std::string value_;
  std::set<pid_t> others_;   // children that are not workers
  std::set<pid_t> workers_;  // watched
  std::set<pid_t> groups_;   // of all workers, including those that have ended
  bool was_subreaper_ = false;
  pid_t pid_ = -1;
  int channel_ = -1;
};

}  // namespace kymo::supervisor
