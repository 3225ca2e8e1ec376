// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "supervisor/runs.hpp"

namespace kymo::supervisor {

/// What the command of one worker depends on.
struct SpawnRequest {
  const PlannedRun& run;
  int rank = 0;
  std::string address;       ///< of the control server, as for `kymo worker --connect`
  std::string token;         ///< the same for all ranks
  bool shares_cores = true;  ///< with the other ranks; under torchrun or Slurm the launcher assigns cores
  measure::Pass pass = measure::Pass::kTime;
  std::filesystem::path program_log = {};      ///< written by the processes of an observed program
  std::filesystem::path window_requests = {};  ///< file of its WindowRequests; empty: it has none
};

}  // namespace kymo::supervisor
