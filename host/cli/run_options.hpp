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

/// Options shared by several commands.
namespace kymo::cli {

constexpr std::size_t kMaxLabelBytes = 200;  // of a run's label

/// Options of all commands that run workloads. Options that are not given keep the case's own setting.
struct RunOptions {
  std::optional<DeviceChoice> device;
  std::optional<std::int64_t> warmup, steps, repeat, seed, host_memory_bytes, observed_steps, trace_memory_bytes,
      max_steps;
  std::optional<double> until, min_time_s, timeout_s, max_pass_time_s, max_time_s;
  std::optional<measure::Timing> timing;
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
  bool wide = false, markdown = false;
  bool show_checks = false;  ///< print each comparison with a reference after the runs
};

void add_database_option(CLI::App& app, std::filesystem::path& file);
void add_plugin_options(CLI::App& app, catalog::Options& options);
/// Prints what catalog::Options::announce receives if stderr is a terminal.
void print_announcement(const std::string& text);
/// --device, --seed, --timeout, --host-memory and --wrap: device and limits of the workers.
void add_worker_options(CLI::App& app, RunOptions& options);
/// --warmup, --steps, --min-time, --max-steps, --until, --timing, --sync and --no-verify: the steps of a run.
void add_step_options(CLI::App& app, RunOptions& options);
/// The step options, and --repeat, --passes, --max-pass-time, --fresh and --smoke.
void add_method_options(CLI::App& app, RunOptions& options);
/// --observed-steps, --trace-detail, --trace-memory, --kernel-classes and --keep: what the memory, trace and ops passes
/// record.
void add_observation_options(CLI::App& app, RunOptions& options);
/// The same without --observed-steps.
void add_record_options(CLI::App& app, RunOptions& options);
/// --filter, --shard, --max-time, --resume, --plan, --label and --fail-on-oom, and the output options.
void add_selection_options(CLI::App& app, RunOptions& options);
/// --wide, --markdown and --json.
void add_output_options(CLI::App& app, RunOptions& options);

/// Changes what is given of the case's stopping rule, or replaces its fixed number of steps by such a rule.
void change_rule(measure::Method& method, std::optional<double> min_time_s, std::optional<std::int64_t> max_steps,
                 std::optional<double> relative_standard_error);

/// Applies the given options to a case. Throws UsageError if they contradict each other.
void apply(const RunOptions& options, CaseSpec& spec);

}  // namespace kymo::cli
