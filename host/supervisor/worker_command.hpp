// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <functional>

#include "base/process.hpp"
#include "supervisor/pass_state.hpp"
#include "supervisor/spawn_request.hpp"

/// Launch configuration of workers and their time limits; replaced by tests.
namespace kymo::supervisor {

/// Environment variable that passes a worker its token, so that other users cannot see it.
inline constexpr const char* kTokenVariable = "KYMO_WORKER_TOKEN";

/// Returns the command of one worker; throws Error if it cannot be determined.
using WorkerCommand = std::function<SpawnOptions(const SpawnRequest&)>;

/// `<wrap words> <this program> worker --connect ADDRESS --rank R`, with the library path required by the plugin. For a
/// plugin in Python, its interpreter and the program of Python workers take the place of this program. For an observed
/// program, that program.
SpawnOptions kymo_worker(const SpawnRequest& request);

/// True if the worker of this run is a process that imports what takes long, once, and serves each pass in a fork of
/// its own: workloads in Python, unless a command wraps the worker.
bool forks_for_passes(const PlannedRun& run);
/// Sent to such a process: the pass is over, and another one may follow. Without it, the process ends as its fork does.
inline constexpr int kStayAfterFork = SIGUSR1;
/// Sent to such a process that stays: serve a pass in a new fork.
inline constexpr int kForkAgain = SIGUSR2;

struct SupervisorConfig {
  WorkerCommand worker_command = kymo_worker;
  PassLimits limits;             ///< the timeout and the memory limit come from each run's method
  double exit_grace_s = 10;      ///< time limit for a worker to exit after it was told to
  double wrapped_grace_s = 120;  ///< the same with --wrap, because profilers write their reports at exit
};

}  // namespace kymo::supervisor
