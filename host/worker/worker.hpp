// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "event/records.hpp"

namespace kymo::worker {

/// Body of the hidden command `kymo worker`: connects to the control server, makes the passes it is assigned, returns
/// the exit code.
int run_worker(const std::string& host, std::uint16_t port, int rank, const std::string& token);

/// Body of the hidden command `kymo devices`: prints the devices of this machine as JSON, with the reason where there
/// is no GPU.
int print_devices();

/// What `kymo devices` found, asked in a child process so that this one stays free of CUDA.
struct Devices {
  event::Device cpu;
  std::vector<event::Device> gpus;
  std::string no_gpu_reason;   ///< set if gpus is empty
  std::string driver_version;  ///< empty without a driver
};
Devices probe_devices();

}  // namespace kymo::worker
