// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/process.hpp"
#include "event/records.hpp"
#include "worker/worker.hpp"

namespace kymo::worker {

/// The CPU of this machine. Its uuid is a hash of host name, model and core count.
event::Device cpu_device();

/// probe_devices() with an explicit command that prints the output of `kymo devices`. Errors are returned as
/// no_gpu_reason.
Devices request_devices(const SpawnOptions& command, double deadline_s);

}  // namespace kymo::worker
