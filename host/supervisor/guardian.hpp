// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace kymo::supervisor {

/// A child process that outlives a killed supervisor by a moment and ends the process groups it left behind.
/// The parent-death signal ends workers, but not what workers started themselves.
/// Make it before other threads and signal handlers exist; it must be destroyed in the thread that made it.
class Guardian {
 public:
  /// Forks; throws Error.
  Guardian();
  /// Ends the guardian; the groups it still watches are killed.
  ~Guardian();
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  void watch(pid_t group);
  /// To be called while the group's leader is not yet reaped, so that its number cannot be another's.
  void forget(pid_t group);

 private:
  void tell(pid_t message);

  pid_t pid_ = -1;
  int channel_ = -1;
};

}  // namespace kymo::supervisor
