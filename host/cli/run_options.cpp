// SPDX-License-Identifier: Apache-2.0
#include "cli/run_options.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "analysis/kernel_class.hpp"
#include "base/commit.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/typed_option.hpp"

namespace kymo::cli {
using namespace plan;

using measure::SettingGroup;

void RunOptions::give(const measure::Setting& setting, const std::string& text) {
  settings[setting.name] = setting.type.parse(setting.option(), text);
}

void add_database_option(CLI::App& app, std::filesystem::path& file) {
  app.add_option("--db", file, "results database")->type_name("FILE")->capture_default_str()->check(error_if_empty);
}

void add_wide_option(CLI::App& app, bool& wide) {
  app.add_flag("--wide", wide, "show every column, whatever the width of the terminal");
}

void add_table_options(CLI::App& app, bool& wide, bool& json) {
  add_wide_option(app, wide);
  app.add_flag("--json", json, "print JSON");
}

void add_table_options(CLI::App& app, bool& wide, bool& markdown, bool& json) {
  add_table_options(app, wide, json);
  app.add_flag("--markdown", markdown, "print Markdown, for example for a pull request");
}

void print_announcement(const std::string& text) {
  if (isatty(STDERR_FILENO) == 1) std::fprintf(stderr, "kymo: %s\n", visible(text).c_str());
}

void add_plugin_options(CLI::App& app, catalog::Options& options) {
  options.announce = [&app](const std::string& text) {
    const CLI::Option* json = app.get_option_no_throw("--json");
    if (json == nullptr || json->count() == 0) print_announcement(text);
  };
  app.add_option("--plugin", options.extra_files, "also use this plugin file; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->check(error_if_empty);
  app.add_option("--python", options.python,
                 "interpreter for workloads in Python [that of VIRTUAL_ENV, else the python3 with torch]")
      ->type_name("PROGRAM")
      ->check(error_if_empty);
  app.add_flag("--trust", options.trust, "also load plugins that other users of this machine can modify");
}

void add_setting(CLI::App& app, RunOptions& options, const measure::Setting& setting,
                 const std::string& documentation) {
  const std::string text = documentation.empty() ? setting.help() : documentation;
  if (setting.type.syntax.empty())
    app.add_flag_callback(setting.option(), [&] { options.give(setting, "true"); }, text);
  else
    app.add_option_function<std::string>(
           setting.option(), [&](const std::string& value) { options.give(setting, value); }, text)
        ->type_name(setting.type.syntax);
}

void add_settings(CLI::App& app, RunOptions& options, measure::SettingGroup group) {
  for (const measure::Setting& setting : measure::settings())
    if (setting.group == group) add_setting(app, options, setting);
}

void add_device_option(CLI::App& app, RunOptions& options, const std::string& documentation) {
  typed_option(app, "--device", options.device, "auto|cpu|cuda", documentation, device_choice_from);
}

void add_ranks_option(CLI::App& app, std::optional<std::int64_t>& ranks, const std::string& documentation) {
  number_option(app, "--ranks", ranks, 1, kMaxRanks, documentation);
}

void add_label_option(CLI::App& app, RunOptions& options) {
  app.add_option("--label", options.label, "label to store with the runs")
      ->type_name("TEXT")
      ->check([](const std::string& text) {
        return text.size() <= kMaxLabelBytes ? "" : "takes at most " + std::to_string(kMaxLabelBytes) + " bytes";
      });
}

void add_worker_options(CLI::App& app, RunOptions& options) {
  add_device_option(app, options, "device to run on; auto: cuda if the workload supports it and each rank has a GPU");
  add_settings(app, options, SettingGroup::kWorker);
}

void add_record_options(CLI::App& app, RunOptions& options) {
  add_settings(app, options, SettingGroup::kRecords);
  app.get_option("--kernel-classes")->check([](const std::string& file) {
    if (std::filesystem::exists(file)) analysis::Classifier::with_file(file);  // report its errors before anything runs
    return "";
  });
  typed_option(app, "--keep", options.keep, "summary|one-step|all",
               "events and samples to store: all, those of one step, or only the summary [all]",
               enum_from<store::Keep>);
}

void add_output_options(CLI::App& app, RunOptions& options) {
  app.add_flag("--wide", options.wide, "show every setting, result and metric, whatever the width of the terminal");
  app.add_flag("--markdown", options.markdown, "print the table in Markdown, for example for a pull request");
  app.add_flag("--json", options.json, "print JSON instead of a table");
}

void add_run_options(CLI::App& app, RunOptions& options) {
  add_worker_options(app, options);
  add_settings(app, options, SettingGroup::kSteps);
  number_option(app, "--repeat", options.repeat, 1, kAnyNumber,
                "number of runs of each case; repetitions are interleaved [1]");
  add_settings(app, options, SettingGroup::kRun);
  app.add_flag("--smoke", options.smoke, "run a single step without warm-up");
  add_settings(app, options, SettingGroup::kObserved);
  add_record_options(app, options);
  app.add_option("--filter", options.filter, "select cases whose name, workload and parameters (name=value) match")
      ->type_name("REGEX");
  typed_option(app, "--shard", options.shard, "i/n", "run only the i-th of n shards of the cases", shard_from);
  seconds_option(
      app, "--max-time", options.max_time_s, 0.001, 1e9,
      "time for all runs; when it is used up, the current run is stopped, and this and the remaining ones are "
      "recorded as skipped, for --resume [no limit; suites set it]");
  app.add_flag("--resume", options.resume, "skip runs already recorded in the database as ok or oom");
  app.add_flag("--plan", options.plan, "print the cases without running them");
  add_label_option(app, options);
  app.add_option("--project", options.project,
                 "store the commit of this folder with the runs [that of the workload's file, else the current folder]")
      ->type_name("FOLDER")
      ->check([](const std::string& folder) {
        return working_tree_of(folder) ? "" : quote(folder) + " is in no git working tree";
      });
  app.add_flag("--fail-on-oom", options.fail_on_oom, "also exit with 3 if a run ran out of memory");
  add_sweep_options(app, options.sweep);
  add_output_options(app, options);
  add_database_option(app, options.database);
  app.add_option("--resume-from", options.resume_from)->group("");
  app.add_option("--saved-copy", options.saved_copy)->group("");
  add_plugin_options(app, options.plugins);
}

void apply(const RunOptions& options, measure::Method& method) {
  for (const measure::Setting& setting : measure::settings()) {
    const auto given = options.settings.find(setting.name);
    if (given == options.settings.end()) continue;
    if (options.gives(setting.excludes))
      throw UsageError("--" + setting.excludes + " and " + setting.option() + " are mutually exclusive");
    given->second(method);
  }
}

void apply(const RunOptions& options, CaseSpec& spec) {
  if (options.device) spec.device = *options.device;
  if (options.repeat) spec.repeat = *options.repeat;
  for (const auto& [name, change] : options.settings) spec.method_axes.erase(name);
  apply(options, spec.method);
  if (spec.method.passes.empty())
    throw UsageError("--no-verify removes the only selected pass; add another pass to --passes");
  if (options.smoke) {
    spec.method_axes.erase("warmup");
    spec.method.warmup = 0;
    spec.method.steps = 1;
    spec.method.until.reset();
    spec.repeat = 1;
  }
}

}  // namespace kymo::cli
