// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/run_options.hpp"
#include "supervisor/runs.hpp"

namespace kymo::cli {

/// True if the candidates of `kymo ab` are commands of programs, such as "python train.py --lr 1", and not workloads: a
/// command contains a space. Throws UsageError if some are and some are not.
bool are_programs(const std::vector<std::string>& candidates);

/// One planned run for each program: its time pass, in a process of its own. `ranks`: empty, as the commands say.
/// Throws UsageError for options that only apply to workloads, and if two commands are the same.
std::vector<supervisor::PlannedRun> planned_programs(const std::vector<std::string>& candidates,
                                                     std::optional<std::int64_t> ranks, const RunOptions& options);

}  // namespace kymo::cli
