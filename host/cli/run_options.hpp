// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.hpp"
#include "cli/case_spec.hpp"
#include "cli/option_text.hpp"
#include "measure/plan.hpp"

namespace CLI {
class App;
}

/// The options that several commands share.
namespace kymo::cli {

/// Of everything that measures. What is not given leaves the case's own setting alone.
struct RunOptions {
  std::optional<DeviceChoice> device;
  std::optional<std::int64_t> warmup, steps, repeat, seed, host_memory_bytes, observed_steps, trace_memory_bytes;
  std::optional<double> until, timeout_s;
  std::optional<std::string> mode;
  std::optional<measure::Sync> sync;
  std::optional<std::vector<measure::Pass>> passes;
  std::optional<Shard> shard;
  std::string filter, label, wrap;
  std::string keep = "all";
  std::optional<std::string> trace_detail;
  std::filesystem::path kernel_classes;
  std::filesystem::path database = "kymo.db";
  catalog::Options plugins;
  bool no_verify = false, fresh = false, smoke = false, fail_on_oom = false, resume = false, plan = false, json = false;
  bool show_checks = false;  ///< after the runs, print each comparison with a reference
};

void add_database_option(CLI::App& app, std::filesystem::path& file);
void add_plugin_options(CLI::App& app, catalog::Options& options);
/// --device, --seed, --timeout, --host-memory and --wrap: where and within what bounds workers run.
void add_worker_options(CLI::App& app, RunOptions& options);
/// --warmup, --steps, --until, --repeat, --mode, --sync, --passes, --no-verify, --fresh and --smoke.
void add_method_options(CLI::App& app, RunOptions& options);
/// --observed-steps, --trace-detail, --trace-memory, --kernel-classes and --keep: what the passes memory, trace and ops
/// record.
void add_observation_options(CLI::App& app, RunOptions& options);
/// --filter, --shard, --resume, --plan, --label, --fail-on-oom and --json.
void add_selection_options(CLI::App& app, RunOptions& options);

/// Lays the given options over a case. Throws UsageError if together they make no sense.
void apply(const RunOptions& options, CaseSpec& spec);

}  // namespace kymo::cli
