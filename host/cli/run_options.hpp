// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "catalog/catalog.hpp"
#include "cli/sweep_options.hpp"
#include "measure/settings.hpp"
#include "plan/case_spec.hpp"
#include "plan/option_text.hpp"
#include "store/results.hpp"

namespace CLI {
class App;
}

/// Options shared by several commands.
namespace kymo::cli {

constexpr std::size_t kMaxLabelBytes = 200;  // of a run's label

/// Options of all commands that run workloads. Options that are not given keep the case's own setting.
struct RunOptions {
  std::optional<plan::DeviceChoice> device;
  std::map<std::string, measure::MethodChange> settings;  ///< of the method, by name
  std::optional<std::int64_t> repeat;
  std::optional<double> max_time_s;
  std::optional<plan::Shard> shard;
  std::string filter, label;
  store::Keep keep = store::Keep::kAll;
  std::filesystem::path database = "kymo.db";
  std::filesystem::path resume_from;  ///< --resume also skips the runs of this database; of jobs of a sweep
  std::filesystem::path saved_copy;   ///< where SavedCopy keeps a copy of the database; of jobs of a sweep
  SweepOptions sweep;
  std::filesystem::path project;  ///< folder whose commit is stored; empty: that of the workload, else the current one
  catalog::Options plugins;
  bool smoke = false, fail_on_oom = false, resume = false, plan = false, json = false;
  bool wide = false, markdown = false;
  bool show_checks = false;  ///< print each comparison with a reference after the runs

  bool gives(const std::string& setting) const { return settings.contains(setting); }
  /// Parses the value of a setting. Throws UsageError.
  void give(const measure::Setting& setting, const std::string& text);
};

void add_database_option(CLI::App& app, std::filesystem::path& file);
void add_wide_option(CLI::App& app, bool& wide);
/// --wide and --json, of commands that print tables.
void add_table_options(CLI::App& app, bool& wide, bool& json);
/// --wide, --markdown and --json, of commands whose tables are also for pull requests.
void add_table_options(CLI::App& app, bool& wide, bool& markdown, bool& json);
void add_plugin_options(CLI::App& app, catalog::Options& options);
/// Prints what catalog::Options::announce receives if stderr is a terminal.
void print_announcement(const std::string& text);
/// The option of a setting of the method, with its own documentation or another one.
void add_setting(CLI::App& app, RunOptions& options, const measure::Setting& setting,
                 const std::string& documentation = "");
void add_settings(CLI::App& app, RunOptions& options, measure::SettingGroup group);
void add_device_option(CLI::App& app, RunOptions& options, const std::string& documentation);
/// `documentation` says how many ranks there are without the option.
void add_ranks_option(CLI::App& app, std::optional<std::int64_t>& ranks, const std::string& documentation);
void add_label_option(CLI::App& app, RunOptions& options);
/// --device and the settings of the workers.
void add_worker_options(CLI::App& app, RunOptions& options);
/// What the memory, trace and ops passes record, and --keep.
void add_record_options(CLI::App& app, RunOptions& options);
/// All of these, those of `kymo run`: also --repeat, --smoke, --filter, --shard, --max-time, --resume, --plan, --label,
/// --fail-on-oom, those of sweeps and the output options.
void add_run_options(CLI::App& app, RunOptions& options);
/// --wide, --markdown and --json.
void add_output_options(CLI::App& app, RunOptions& options);

/// Changes the given settings of a method. Throws UsageError if they contradict each other.
void apply(const RunOptions& options, measure::Method& method);
/// Applies the given options to a case. Throws UsageError if they contradict each other.
void apply(const RunOptions& options, plan::CaseSpec& spec);

}  // namespace kymo::cli
