// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace kymo::supervisor {

/// A child process that kills the remaining process groups if the supervisor is killed. The parent-death signal ends
/// the workers, but not the processes they started. Create it before other threads and signal handlers exist, and
/// destroy it in the thread that created it.
class ProcessReaper {
 public:
  /// Forks the reaper. Throws Error.
  ProcessReaper();
  /// Ends the reaper, which kills the groups it still watches.
  ~ProcessReaper();
  ProcessReaper(const ProcessReaper&) = delete;
  ProcessReaper& operator=(const ProcessReaper&) = delete;

  void watch(pid_t group);
  /// Call this before the group's leader is reaped, so that its process id cannot be reused.
  void forget(pid_t group);

 private:
  void send_message(pid_t message);

  pid_t pid_ = -1;
  int channel_ = -1;
};

}  // namespace kymo::supervisor
