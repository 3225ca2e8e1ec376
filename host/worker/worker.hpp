// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "event/records.hpp"

namespace kymo::worker {

/// Implements the hidden command `kymo worker`: connects to the control server (as SocketClient does), executes the
/// assigned passes and returns the exit code.
int run_worker(const std::string& address, int rank, const std::string& token);

/// Implements the hidden command `kymo devices`: prints the devices of this machine as JSON, with the reason if there
/// is no GPU.
int print_devices();

/// The output of `kymo devices`, run in a child process so that this process does not load CUDA.
struct Devices {
  event::Device cpu;
  std::vector<event::Device> gpus;
  std::string no_gpu_reason;   ///< set if gpus is empty
  std::string driver_version;  ///< empty without a driver
};
Devices probe_devices();

}  // namespace kymo::worker
