// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "supervisor/runs.hpp"

namespace kymo::supervisor {

/// What the command of one worker depends on.
struct SpawnRequest {
  const PlannedRun& run;
  int rank = 0;
  std::string address;  ///< of the control server, as for `kymo worker --connect`
  std::string token;
  bool shares_cores = true;  ///< with the other ranks; under torchrun or Slurm the launcher assigns cores
  measure::Pass pass = measure::Pass::kTime;
  // Of an observed program:
  std::filesystem::path notes = {};      ///< file in which its processes note how far they came
  std::vector<std::string> tokens = {};  ///< of all ranks
};

}  // namespace kymo::supervisor
