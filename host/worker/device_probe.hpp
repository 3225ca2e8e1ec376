// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/process.hpp"
#include "worker/worker.hpp"

namespace kymo::worker {

/// probe_devices with the command that answers as `kymo devices` does. Whatever goes wrong becomes no_gpu_reason.
Devices ask_for_devices(const SpawnOptions& command, double deadline_s);

}  // namespace kymo::worker
