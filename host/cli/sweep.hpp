// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "cli/run_options.hpp"

namespace kymo::cli {

/// Throws UsageError if options contradict those of a sweep, or if options of a sweep are given without --on.
void check(const SweepOptions& sweep, const RunOptions& options);

/// Runs `cases` cases as jobs of Slurm, or as processes of this machine, in place of this process: each shard executes
/// this command line with --shard and a database of its own. Throws UsageError or Error.
[[noreturn]] void run_sweep(const RunOptions& options, std::size_t cases, const std::string& command_line);

}  // namespace kymo::cli
