// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/json.hpp"
#include "cli/python_command.hpp"

namespace kymo::cli {

void check(const SweepOptions& sweep, const RunOptions& options) {
  if (sweep.cluster.empty()) {
    if (sweep.shards) throw UsageError("--shards needs --on slurm or --on local; --shard i/n runs one shard here");
    if (!sweep.settings.empty()) throw UsageError("--on-option needs --on slurm or --on local");
    return;
  }
  if (options.shard) throw UsageError("--on and --shard are mutually exclusive; --shards N sets the number of shards");
}

void run_sweep(const RunOptions& options, std::size_t cases, const std::string& command_line) {
  const auto shards = std::min(options.sweep.shards.value_or(1), static_cast<std::int64_t>(cases));
  run_python_command("sweep",
                     {{"cluster", options.sweep.cluster},
                      {"shards", shards},
                      {"settings", options.sweep.settings},
                      {"cases", cases},
                      {"command_line", command_line},
                      {"database", std::filesystem::absolute(options.database).string()},
                      {"resume", options.resume},
                      {"json", options.json}},
                     options.plugins.python);
}

}  // namespace kymo::cli
