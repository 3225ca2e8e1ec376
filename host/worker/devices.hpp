// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/process.hpp"
#include "event/records.hpp"

namespace kymo::worker {

/// The CPU of this machine. Its uuid is a hash of host name, model and core count.
event::Device cpu_device();

/// Implements the hidden command `kymo devices`: prints the devices of this machine as JSON, with the reason if there
/// is no GPU. `counts`: also counts an empty step on each GPU, as the pass counters does.
int print_devices(bool counts);

/// The output of `kymo devices`, run in a child process so that this process does not load CUDA.
struct Devices {
  event::Device cpu;
  std::vector<event::Device> gpus;
  std::string no_gpu_reason;   ///< set if gpus is empty
  std::string driver_version;  ///< empty without a driver
  /// Why the hardware counters of each GPU cannot be read, and what to do; empty if they can. Only if requested.
  std::vector<std::string> counter_problems;
};
Devices probe_devices(bool counts = false);

/// probe_devices() with an explicit command that prints the output of `kymo devices`. Errors are returned as
/// no_gpu_reason.
Devices request_devices(const SpawnOptions& command, double deadline_s);

}  // namespace kymo::worker
