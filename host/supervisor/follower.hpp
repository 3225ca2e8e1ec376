// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "supervisor/launcher_environment.hpp"
#include "supervisor/worker_command.hpp"

namespace kymo::supervisor {

/// Serves a rank other than 0: joins the leader, starts this rank's workers on request, and sends their output and rank
/// files. `plan` contains all runs of this process's own command line. Returns the leader's exit code. Throws Error if
/// the leader cannot be reached in time, rejects this process, or is lost; the workers are terminated first.
int follow(const LauncherEnvironment& launcher_env, const std::vector<PlannedRun>& plan,
           const SupervisorConfig& config = {});

}  // namespace kymo::supervisor
