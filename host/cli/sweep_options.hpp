// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kymo::cli {

/// Options of a sweep, whose cases are run by jobs.
struct SweepOptions {
  std::string cluster;  ///< slurm or local; empty: this process runs the cases
  std::optional<std::int64_t> shards;
  std::vector<std::string> settings;  ///< NAME=VALUE, or NAME
};

/// --on, --shards and --on-option.
void add_sweep_options(CLI::App& app, SweepOptions& options);

}  // namespace kymo::cli
