// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "supervisor/launch.hpp"
#include "supervisor/launch_environment.hpp"

namespace kymo::supervisor {

/// Serves a rank other than 0: joins the leader, starts this rank's workers when told, and sends what they leave.
/// `plan` is what this process's own command line asks for, whole. Returns the leader's exit code. Throws Error if the
/// leader cannot be reached in time, refuses this process, or vanishes; no worker is left then.
int follow(const Launch& launch, const std::vector<PlannedRun>& plan, const Conditions& setup = {});

}  // namespace kymo::supervisor
