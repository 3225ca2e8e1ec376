// SPDX-License-Identifier: Apache-2.0
#include "cli/run_options.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <limits>

#include "analysis/kernel_class.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/programs.hpp"
#include "measure/mode.hpp"
#include "store/results.hpp"

namespace kymo::cli {
namespace {

constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();

/// An option whose text a function turns into a value; it throws UsageError itself.
template <typename Value, typename Convert>
CLI::Option* option(CLI::App& app, const std::string& name, std::optional<Value>& target, const std::string& type,
                    const std::string& documentation, Convert convert) {
  return app
      .add_option_function<std::string>(
          name, [&target, convert](const std::string& text) { target = convert(text); }, documentation)
      ->type_name(type);
}

CLI::Option* number_option(CLI::App& app, const std::string& name, std::optional<std::int64_t>& target,
                           std::int64_t low, std::int64_t high, const std::string& documentation) {
  return option(app, name, target, "N", documentation,
                [name, low, high](const std::string& text) { return whole_number(name, text, low, high); });
}

}  // namespace

void add_database_option(CLI::App& app, std::filesystem::path& file) {
  app.add_option("--db", file, "results database")->type_name("FILE")->capture_default_str()->check(complain_if_empty);
}

void add_plugin_options(CLI::App& app, catalog::Options& options) {
  app.add_option("--plugin", options.extra_files, "also use this plugin file; may be given several times")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->check(complain_if_empty);
  app.add_flag("--trust", options.trust, "also load plugins that others on this machine could have changed");
}

void add_worker_options(CLI::App& app, RunOptions& options) {
  option(app, "--device", options.device, "auto|cpu|cuda",
         "where to run; auto: cuda if the workload can and there is a GPU for each rank",
         [](const std::string& text) { return device_choice_from("--device", text); });
  number_option(app, "--seed", options.seed, 0, kAnyNumber, "seed of parameters and batches [0]");
  option(app, "--timeout", options.timeout_s, "SECONDS", "end a worker that makes no progress for this long [600]",
         [](const std::string& text) { return real_number("--timeout", text, 0.001, 1e9); });
  option(app, "--host-memory", options.host_memory_bytes, "SIZE",
         "end a worker that uses more host memory, such as 8G [no bound]",
         [](const std::string& text) { return size_bytes("--host-memory", text); });
  app.add_option("--wrap", options.wrap, "program put before each worker, such as \"gdb --args\"")
      ->type_name("COMMAND");
}

void add_method_options(CLI::App& app, RunOptions& options) {
  number_option(app, "--warmup", options.warmup, 0, kMostSteps, "steps before the measured ones [5]");
  number_option(app, "--steps", options.steps, 1, kMostSteps, "measured steps [10]");
  option(app, "--until", options.until, "REL",
         "measure until the mean step is known to this relative standard error, such as 1%",
         [](const std::string& text) { return relative_error("--until", text); });
  number_option(app, "--repeat", options.repeat, 1, kAnyNumber, "runs of each case, interleaved [1]");
  option(app, "--mode", options.mode, "sync|hot|cold",
         "how steps are timed: sync waits for the device after each one, hot after a batch, cold flushes the caches "
         "before each one; hot and "
         "cold queue all work before any of it begins, and need a step of one phase that waits for nothing [sync]",
         [](const std::string& text) { return measure::mode_from(text); });
  option(app, "--sync", options.sync, "step|phase", "where the host waits for the device [step]",
         [](const std::string& text) { return measure::sync_from(text); });
  option(app, "--passes", options.passes, "LIST", "what to do of verify, time, memory, trace, ops [verify,time]",
         [](const std::string& text) { return passes_from("--passes", text); });
  app.add_flag("--no-verify", options.no_verify, "leave out the comparison with a reference");
  app.add_flag("--fresh", options.fresh, "a new process for every run");
  app.add_flag("--smoke", options.smoke, "one step of everything, without warm-up");
}

void add_observation_options(CLI::App& app, RunOptions& options) {
  number_option(app, "--observed-steps", options.observed_steps, 1, kMostSteps,
                "measured steps of the passes memory, trace and ops, never more than --steps [5]");
  app.add_option_function<std::string>(
         "--trace-detail",
         [&options](const std::string& text) {
           measure::Observation checked;
           add_trace_detail("--trace-detail", text, checked);
           options.trace_detail = text;
         },
         "what else to record: memsets, synchronization, pauses (of tracing itself), api (all calls into CUDA: slow), "
         "shapes (of "
         "operators)")
      ->type_name("LIST");
  option(app, "--trace-memory", options.trace_memory_bytes, "SIZE",
         "memory for events before they are written; more is lost and counted [512M]",
         [](const std::string& text) { return size_bytes("--trace-memory", text); });
  app.add_option_function<std::string>(
         "--kernel-classes",
         [&options](const std::string& text) {
           if (!std::filesystem::exists(text)) throw UsageError("--kernel-classes: there is no file " + quote(text));
           analysis::Classifier::with_file(text);  // a mistake shows before anything runs
           options.kernel_classes = std::filesystem::absolute(text);
         },
         "TOML file of your own patterns for classes of kernels: [[pattern]] with contains and class")
      ->type_name("FILE");
  app.add_option_function<std::string>(
         "--keep",
         [&options](const std::string& text) {
           store::keep_from(text);
           options.keep = text;
         },
         "what to store of events and samples: all, those of one-step, or the summary alone [all]")
      ->type_name("summary|one-step|all");
}

void add_selection_options(CLI::App& app, RunOptions& options) {
  app.add_option("--filter", options.filter, "only cases whose name, workload and parameters (name=value) match")
      ->type_name("REGEX");
  option(app, "--shard", options.shard, "i/n", "only the i-th of n parts of the cases",
         [](const std::string& text) { return shard_from(text); });
  app.add_flag("--resume", options.resume, "leave out what the database holds already as ok or oom");
  app.add_flag("--plan", options.plan, "print the cases and do nothing");
  app.add_option("--label", options.label, "text stored with the runs, to tell them apart")->type_name("TEXT");
  app.add_flag("--fail-on-oom", options.fail_on_oom, "exit with 3 also if a run was out of memory");
  app.add_flag("--json", options.json, "print JSON instead of a table");
}

void apply(const RunOptions& options, CaseSpec& spec) {
  measure::Method& how = spec.method;
  if (options.steps && options.until) throw UsageError("--steps and --until exclude each other");
  if (options.device) spec.device = *options.device;
  if (options.warmup) spec.warmups = {*options.warmup};
  if (options.repeat) spec.repeat = *options.repeat;
  if (options.steps) {
    how.steps = *options.steps;
    how.until.reset();
  }
  if (options.until) how.until = measure::StoppingRule{.relative_standard_error = *options.until};
  if (options.mode) how.mode = *options.mode;
  if (options.sync) how.sync = *options.sync;
  if (options.passes) how.passes = *options.passes;
  if (options.no_verify) std::erase(how.passes, measure::Pass::kVerify);
  if (how.passes.empty()) throw UsageError("--no-verify leaves no pass; --passes must name another one than verify");
  if (options.seed) how.seed = static_cast<std::uint64_t>(*options.seed);
  if (options.timeout_s) how.timeout_s = *options.timeout_s;
  if (options.host_memory_bytes) how.host_memory_bytes = *options.host_memory_bytes;
  if (options.fresh) how.fresh = true;
  if (options.observed_steps) how.observation.steps = *options.observed_steps;
  if (options.trace_memory_bytes) how.observation.memory_bytes = *options.trace_memory_bytes;
  if (options.trace_detail) add_trace_detail("--trace-detail", *options.trace_detail, how.observation);
  if (!options.kernel_classes.empty()) how.observation.kernel_classes = options.kernel_classes.string();
  if (!options.wrap.empty()) {
    const std::string program = split(trim(options.wrap), ' ').front();
    if (!find_program(program)) throw UsageError("--wrap: there is no program " + quote(program) + " on PATH");
    how.wrap = options.wrap;
  }
  if (options.smoke) {
    spec.warmups = {0};
    how.steps = 1;
    how.until.reset();
    spec.repeat = 1;
  }
}

}  // namespace kymo::cli
