// SPDX-License-Identifier: Apache-2.0
#include "cli/run_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "analysis/kernel_class.hpp"
#include "base/error.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "cli/typed_option.hpp"
#include "measure/plan.hpp"
#include "store/results.hpp"

namespace kymo::cli {
void change_rule(measure::Method& method, std::optional<double> min_time_s, std::optional<std::int64_t> max_steps,
                 std::optional<double> relative_standard_error) {
  if (!min_time_s && !max_steps && !relative_standard_error) return;
  if (!method.until) method.until.emplace();
  if (min_time_s) {
    method.until->min_seconds = *min_time_s;
    method.until->max_seconds = std::max(measure::StoppingRule{}.max_seconds, 2 * *min_time_s);
  }
  if (max_steps) method.until->max_samples = *max_steps;
  if (relative_standard_error) method.until->relative_standard_error = relative_standard_error;
}

void add_database_option(CLI::App& app, std::filesystem::path& file) {
  app.add_option("--db", file, "results database")->type_name("FILE")->capture_default_str()->check(error_if_empty);
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

void add_worker_options(CLI::App& app, RunOptions& options) {
  typed_option(app, "--device", options.device, "auto|cpu|cuda",
               "device to run on; auto: cuda if the workload supports it and each rank has a GPU", device_choice_from);
  number_option(app, "--seed", options.seed, 0, kAnyNumber, "random seed for parameters and batches [0]");
  seconds_option(app, "--timeout", options.timeout_s, 0.001, 1e9,
                 "kill a worker that makes no progress for this long [600]");
  typed_option(app, "--host-memory", options.host_memory_bytes, "SIZE",
               "kill a worker that, with the processes it started, uses more host memory, such as 8Gi [no limit]",
               size_bytes);
  app.add_option("--wrap", options.wrap, "command to prefix to each worker, such as \"gdb --args\"")
      ->type_name("COMMAND");
}

void add_step_options(CLI::App& app, RunOptions& options) {
  number_option(app, "--warmup", options.warmup, 0, kMaxSteps, "warm-up steps before the measured steps [5]");
  number_option(app, "--steps", options.steps, 1, kMaxSteps,
                "number of measured steps, instead of --min-time, --max-steps and --until");
  typed_option(app, "--min-time", options.min_time_s, "SECONDS",
               "measure at least 10 steps that take at least this long together [0.5]", min_time);
  number_option(app, "--max-steps", options.max_steps, 1, kMaxSteps, "measure at most this many steps [10000]");
  typed_option(
      app, "--until", options.until, "REL",
      "also measure until the mean step time has this relative standard error, such as 1%, for up to 60 seconds or "
      "twice --min-time",
      relative_error);
  typed_option(
      app, "--timing", options.timing, "sync|hot|cold",
      "how to time steps: sync waits for the device after each step, hot after a batch of steps, cold flushes the "
      "caches before each step; hot and cold enqueue all work before execution starts and require a single-phase "
      "step that does not synchronize [sync]",
      enum_from<measure::Timing>);
  typed_option(app, "--sync", options.sync, "step|phase", "synchronize with the device after each step or phase [step]",
               enum_from<measure::Sync>);
  app.add_flag("--no-verify", options.no_verify, "skip the comparison with a reference");
}

void add_method_options(CLI::App& app, RunOptions& options) {
  add_step_options(app, options);
  number_option(app, "--repeat", options.repeat, 1, kAnyNumber,
                "number of runs of each case; repetitions are interleaved [1]");
  typed_option(app, "--passes", options.passes, "LIST",
               "passes to run: any of verify, time, memory, trace, ops [verify,time]", passes_from);
  seconds_option(
      app, "--max-pass-time", options.max_pass_time_s, 0.001, 1e9,
      "skip a run if the steps of one of its passes would take longer, judged by the first steps, or if one of these "
      "takes longer itself; the run is recorded as skipped with the time of a step [no limit; suites set it]");
  app.add_flag("--fresh", options.fresh, "start a new process for every run");
  app.add_flag("--smoke", options.smoke, "run a single step without warm-up");
}

void add_observation_options(CLI::App& app, RunOptions& options) {
  number_option(app, "--observed-steps", options.observed_steps, 1, kMaxSteps,
                "measured steps of the memory, trace and ops passes, at most --steps [5]");
  add_record_options(app, options);
}

void add_record_options(CLI::App& app, RunOptions& options) {
  app.add_option_function<std::string>(
         "--trace-detail",
         [&options](const std::string& text) {
           measure::Observation checked;
           add_trace_detail("--trace-detail", text, checked);
           options.trace_detail = text;
         },
         "additional records: memsets, synchronization, overhead (of CUPTI), api (all CUDA API calls: slow), "
         "shapes (of operators), or none [none; of programs: shapes]")
      ->type_name("LIST");
  typed_option(app, "--trace-memory", options.trace_memory_bytes, "SIZE",
               "memory for buffered events; events that do not fit are counted as dropped records [512Mi]", size_bytes);
  app.add_option_function<std::string>(
         "--kernel-classes",
         [&options](const std::string& text) {
           if (!std::filesystem::exists(text)) throw UsageError("--kernel-classes: no such file: " + quote(text));
           analysis::Classifier::with_file(text);  // report errors in the file before anything runs
           options.kernel_classes = std::filesystem::absolute(text);
         },
         "TOML file with additional kernel class patterns: [[pattern]] with contains and class")
      ->type_name("FILE");
  app.add_option_function<std::string>(
         "--keep",
         [&options](const std::string& text) {
           store::keep_from(text);
           options.keep = text;
         },
         "events and samples to store: all, those of one step, or only the summary [all]")
      ->type_name("summary|one-step|all");
}

void add_selection_options(CLI::App& app, RunOptions& options) {
  app.add_option("--filter", options.filter, "select cases whose name, workload and parameters (name=value) match")
      ->type_name("REGEX");
  typed_option(app, "--shard", options.shard, "i/n", "run only the i-th of n shards of the cases", shard_from);
  seconds_option(
      app, "--max-time", options.max_time_s, 0.001, 1e9,
      "time for all runs; when it is used up, the current run is stopped, and this and the remaining ones are "
      "recorded as skipped, for --resume [no limit; suites set it]");
  app.add_flag("--resume", options.resume, "skip runs already recorded in the database as ok or oom");
  app.add_flag("--plan", options.plan, "print the cases without running them");
  app.add_option("--label", options.label, "label to store with the runs")
      ->type_name("TEXT")
      ->check([](const std::string& text) {
        return text.size() <= kMaxLabelBytes ? "" : "takes at most " + std::to_string(kMaxLabelBytes) + " bytes";
      });
  app.add_flag("--fail-on-oom", options.fail_on_oom, "also exit with 3 if a run ran out of memory");
  add_output_options(app, options);
}

void add_output_options(CLI::App& app, RunOptions& options) {
  app.add_flag("--wide", options.wide, "show every setting, result and metric, whatever the width of the terminal");
  app.add_flag("--markdown", options.markdown, "print the table in Markdown, for example for a pull request");
  app.add_flag("--json", options.json, "print JSON instead of a table");
}

void apply(const RunOptions& options, CaseSpec& spec) {
  measure::Method& method = spec.method;
  for (const auto& [name, is_given] : {std::pair{"--min-time", options.min_time_s.has_value()},
                                       {"--max-steps", options.max_steps.has_value()},
                                       {"--until", options.until.has_value()}}) {
    if (options.steps && is_given) throw UsageError(std::string("--steps and ") + name + " are mutually exclusive");
  }
  if (options.device) spec.device = *options.device;
  if (options.warmup) spec.warmups = {*options.warmup};
  if (options.repeat) spec.repeat = *options.repeat;
  if (options.steps) {
    method.steps = *options.steps;
    method.until.reset();
  }
  change_rule(method, options.min_time_s, options.max_steps, options.until);
  if (options.timing) method.timing = *options.timing;
  if (options.sync) method.sync = *options.sync;
  if (options.passes) method.passes = *options.passes;
  if (options.no_verify) std::erase(method.passes, measure::Pass::kVerify);
  if (method.passes.empty())
    throw UsageError("--no-verify removes the only selected pass; add another pass to --passes");
  if (options.seed) spec.seeds = {static_cast<std::uint64_t>(*options.seed)};
  if (options.timeout_s) method.timeout_s = *options.timeout_s;
  if (options.max_pass_time_s) method.max_pass_time_s = *options.max_pass_time_s;
  if (options.host_memory_bytes) method.host_memory_bytes = *options.host_memory_bytes;
  if (options.fresh) method.fresh = true;
  if (options.observed_steps) method.observation.steps = *options.observed_steps;
  if (options.trace_memory_bytes) method.observation.memory_bytes = *options.trace_memory_bytes;
  if (options.trace_detail) add_trace_detail("--trace-detail", *options.trace_detail, method.observation);
  if (!options.kernel_classes.empty()) method.observation.kernel_classes = options.kernel_classes.string();
  if (!options.wrap.empty()) {
    const std::string program = split(trim(options.wrap), ' ').front();
    if (!find_program(program)) throw UsageError("--wrap: no program " + quote(program) + " found on PATH");
    method.wrap = options.wrap;
  }
  if (options.smoke) {
    spec.warmups = {0};
    method.steps = 1;
    method.until.reset();
    spec.repeat = 1;
  }
}

}  // namespace kymo::cli
