// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/environment.hpp"
#include "cli/execute.hpp"
#include "cli/run_options.hpp"
#include "cli/typed_option.hpp"
#include "cli/window_option.hpp"
#include "measure/statistics.hpp"
#include "plan/program_plan.hpp"
#include "supervisor/program.hpp"
#include "supervisor/supervisor.hpp"
#include "terminal/print.hpp"
#include "terminal/reading.hpp"
#include "terminal/results_table.hpp"
#include "terminal/run_details.hpp"
#include "terminal/run_results.hpp"
#include "terminal/step_times.hpp"

namespace kymo::cli {
namespace {

using measure::Pass;

struct TraceArguments {
  RunOptions options;
  WindowOption steps{.windows = {{.first = 5, .steps = measure::kMaxFreeSteps, .warmup = kWarmupSteps}}, .period = 0};
  bool waits = false;
  std::optional<bool> stop;
  std::optional<std::int64_t> ranks, repeat;
  std::vector<int> observed_ranks;  // empty: all
  std::vector<std::string> command;
};

constexpr std::int64_t kMaxRepetitions = 1000;

measure::Method method_of(const TraceArguments& arguments, measure::DeviceKind device) {
  const RunOptions& options = arguments.options;
  const supervisor::Window& window = arguments.steps.windows.front();
  measure::Method method = program_method();
  method.observation.shapes = !options.gives("trace-detail");
  method.passes = {device == measure::DeviceKind::kCuda ? Pass::kTrace : Pass::kOps};
  if (arguments.repeat) method.passes.insert(method.passes.begin(), Pass::kTime);
  apply(options, method);
  method.warmup = window.warmup;
  method.steps = window.steps;
  method.observation.warmup = method.warmup;
  method.observation.steps = window.observed();
  if (std::ranges::count(method.passes, Pass::kVerify) > 0)
    throw UsageError("--passes: a program has no reference, so it cannot be verified");
  if (std::ranges::count(method.passes, Pass::kPredict) > 0)
    throw UsageError("--passes: only the memory of workloads can be predicted");
  return method;
}

std::vector<int> observed_ranks(const std::string& text) {
  std::vector<int> ranks;
  for (const std::string& word : split(text, ','))
    ranks.push_back(static_cast<int>(whole_number("--ranks-observed", trim(word), 0, kMaxRanks - 1)));
  return ranks;
}

supervisor::FurtherWindows further_windows(const TraceArguments& arguments, const measure::Method& method) {
  const std::vector<supervisor::Window>& windows = arguments.steps.windows;
  supervisor::FurtherWindows further{
      .listed = {windows.begin() + 1, windows.end()}, .period = arguments.steps.period, .on_request = arguments.waits};
  if (!further.any()) return further;
  const std::string option = arguments.waits ? "--wait" : "--steps";
  if (method.passes.size() > 1)
    throw UsageError("--passes: several windows are observed in a single pass, because each pass starts the program");
  if (method.passes.front() == Pass::kMemory)
    throw UsageError(option + ": the memory pass records from the start of the program, and has a single window");
  if (arguments.stop == true && (further.on_request || further.period > 0))
    throw UsageError("--stop: there is no last window after which the program could be ended");
  return further;
}

supervisor::PlannedRun plan(const TraceArguments& arguments) {
  const DeviceChoice device = arguments.options.device.value_or(DeviceChoice::kAuto);
  supervisor::PlannedRun run = plan_program({arguments.command, device, arguments.ranks});
  run.method = method_of(arguments, run.what.device);
  run.label = arguments.options.label;
  run.program.skipped_steps = arguments.steps.windows.front().begin();
  run.program.stop = arguments.stop;
  run.program.further_windows = further_windows(arguments, run.method);
  run.program.observed_ranks = arguments.observed_ranks;
  if (contains(run.method.passes, Pass::kCounters))
    if (const std::string reason = measure::counting_error(run.method, run.what); !reason.empty())
      throw UsageError(reason);
  const bool is_known = run.program.processes != supervisor::ObservedProcesses::kFound;
  for (const int rank : arguments.observed_ranks)
    if (is_known && rank >= run.what.ranks)
      throw UsageError("--ranks-observed: there is no rank " + std::to_string(rank) + " among " +
                       std::to_string(run.what.ranks) + (run.what.ranks == 1 ? " rank" : " ranks") +
                       "; --ranks is the number of ranks that the program starts");
  return run;
}

/// The repetitions of a run. Only the last one has the passes that observe, so that there are findings once.
std::vector<supervisor::PlannedRun> repetitions(const supervisor::PlannedRun& run, std::optional<std::int64_t> count) {
  if (!count) return {run};
  if (run.program.further_windows.any()) throw UsageError("--repeat: several windows are observed in a single start");
  if (!contains(run.method.passes, Pass::kTime))
    throw UsageError("--repeat repeats the time pass, which 'kymo compare' compares; add time to --passes");
  std::vector<supervisor::PlannedRun> runs(static_cast<std::size_t>(*count), run);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].repetition = static_cast<int>(i);
    runs[i].plan_index = i;
    if (i + 1 < runs.size()) runs[i].method.passes = {Pass::kTime};
  }
  return runs;
}

/// The program's exit code, as a shell reports it; if the program succeeded but the run did not, that of failed runs.
int exit_code_of(const measure::Outcome& run) {
  if (run.signal) return exit_code_of_signal(*run.signal);
  if (run.exit_code && *run.exit_code != 0) return *run.exit_code;
  return static_cast<int>(run.status == measure::RunStatus::kOk ? ExitCode::kOk : ExitCode::kRunFailed);
}

/// That of the program; of several windows or repetitions, the first one that failed. A window that the program did not
/// reach is skipped; they are not all.
int exit_code_of(const supervisor::Summary& summary, bool has_windows) {
  if (has_windows) {
    measure::Outcome end;
    end.exit_code = summary.program_end.exit_code;
    end.signal = summary.program_end.signal;
    if (const int code = exit_code_of(end); code != 0) return code;
  } else if (summary.runs.empty()) {
    return exit_code_of_signal(summary.signal);
  }
  const bool may_skip =
      has_windows && std::ranges::count(summary.runs, measure::RunStatus::kOk, &measure::Outcome::status) > 0;
  for (const measure::Outcome& run : summary.runs) {
    if (may_skip && run.status == measure::RunStatus::kSkipped) continue;
    if (const int code = exit_code_of(run); code != 0) return code;
  }
  return 0;
}

/// "median over 5 runs: mean step 12.3 ms, 12.1 to 12.6 ms with a confidence of 94 %"; empty for less than two runs.
std::string median_over_runs(const Json& results) {
  SideTimes times;
  for (const Json& run : results)
    if (run["status"] == "ok" && run["phases"].contains("step")) times.add(run["phases"]["step"]);
  if (times.runs() < 2) return "";
  const StepStatistic statistic = measure::common_statistic({times.statistics()});
  const measure::Statistics over = measure::summarize(times.values_ns(statistic));
  return fmt::format("median over {} runs: {} step {}, {} to {} with a confidence of {:.0f} %\n", times.runs(),
                     measure::to_string(statistic), format_duration(over.median), format_duration(*over.median_low),
                     format_duration(*over.median_high), 100 * *over.median_confidence);
}

void show(const store::ResultsDatabase& database, std::int64_t invocation, const RunOptions& options, bool repeated) {
  Json results = invocation_results(database, invocation);
  // Repetitions are one row, although only the last one is observed. Windows differ in their parameters.
  if (repeated)
    for (Json& run : results) run["plan_key"] = results.front()["plan_key"];
  const TextStyle style{
      .wide = options.wide, .markdown = false, .colour = false, .columns = output_columns(STDERR_FILENO)};
  std::string text = "\n" + program_text(database, results, options.database.string(), style);
  if (repeated) text += style.text(median_over_runs(results));
  text += style.text("results: " + visible(options.database.string()) + ", invocation " + std::to_string(invocation) +
                     "\n");
  std::fputs(text.c_str(), stderr);  // stdout is the program's
}

int trace(TraceArguments arguments, const std::string& command_line) {
  RunOptions& options = arguments.options;
  const std::filesystem::path shown = options.database;
  options.database = std::filesystem::absolute(options.database);  // the program may change its working directory
  const supervisor::PlannedRun run = plan(arguments);
  const std::vector<supervisor::PlannedRun> runs = repetitions(run, arguments.repeat);
  if (!arguments.stop &&
      std::ranges::any_of(run.method.passes, [&](Pass pass) { return supervisor::stops(run, pass); }))
    log::info("pass trace ends the program after the steps to observe; --no-stop lets it continue");
  store::ResultsDatabase database(options.database, store::ResultsDatabase::Mode::kCreate);
  const std::int64_t invocation = database.begin_invocation(command_line, machine_facts());
  supervisor::Options supervisor_options;
  supervisor_options.keep = options.keep;
  supervisor_options.proceed = [&](std::size_t finished) {
    if (finished > 0 && brief_result(database, invocation, finished - 1)["status"] != "ok") return false;
    if (runs.size() > 1) log::info("start " + std::to_string(finished + 1) + " of " + std::to_string(runs.size()));
    return true;
  };
  const auto code_of = [&](const supervisor::Summary& ended) {
    return exit_code_of(ended, run.program.further_windows.any());
  };
  const supervisor::Summary summary = execute_invocation(database, invocation, runs, supervisor_options, code_of);
  const int code = code_of(summary);
  options.database = shown;
  if (!summary.runs.empty())
    show(database, invocation, options, runs.size() > 1);
  else if (arguments.waits)
    log::info("the program has ended, and no window was requested: nothing was observed");
  return code;
}

}  // namespace

void add_trace(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<TraceArguments>();
  RunOptions& options = arguments->options;
  CLI::App* command = app.add_subcommand("trace", "Observe an unmodified PyTorch program");
  command->add_option("command", arguments->command, "the program and its arguments, after --")
      ->required()
      ->type_name("COMMAND");
  add_setting(*command, options, measure::setting("passes"),
              "passes to run: any of time, memory, trace, ops, counters; each starts the program once [trace on a GPU, "
              "else ops]");
  CLI::Option* steps =
      typed_option(*command, "--steps", arguments->steps, "FIRST:END",
                   "steps of the program to observe, counted from 0: 10:20 are 10 to 19; several windows: "
                   "100:110,1000:1010 or 'every 500 for 5' [5:15; for the time pass 5: (all)]",
                   windows_from);
  command
      ->add_flag("--wait", arguments->waits,
                 "observe nothing until 'kymo observe' requests a window while the program runs")
      ->excludes(steps);
  add_ranks_option(
      *command, arguments->ranks,
      "number of ranks that the program starts on this machine; 1: observe the first process that calls a module "
      "[--nproc-per-node of torchrun, else as many as the program's first process group has]");
  typed_option(*command, "--ranks-observed", arguments->observed_ranks, "LIST",
               "ranks to observe, such as 0,3; the others run as without kymo [all]", observed_ranks);
  number_option(*command, "--repeat", arguments->repeat, 1, kMaxRepetitions,
                "start the program this often for its time pass, each start being a run, as 'kymo compare' needs 5 of "
                "each label; the passes that observe follow the last one [1]");
  CLI::Option* stop = command->add_flag_callback(
      "--stop", [arguments] { arguments->stop = true; },
      "end the program after these steps, with exit code 0 [in the trace pass on a GPU]");
  command
      ->add_flag_callback(
          "--no-stop", [arguments] { arguments->stop = false; }, "let the program continue after these steps")
      ->excludes(stop);
  add_device_option(*command, options, "device that the program uses; auto: cuda if there is a GPU [auto]");
  add_setting(*command, options, measure::setting("timeout"),
              "kill the program if it completes no step for this long [no limit]");
  add_setting(*command, options, measure::setting("host-memory"),
              "kill the program if it uses more host memory, such as 8Gi [no limit]");
  add_record_options(*command, options);
  add_label_option(*command, options);
  command->add_flag("--wide", options.wide, "show every result and metric, whatever the width of the terminal");
  add_database_option(*command, options.database);
  command->footer(
      "The program keeps its input, output and exit code; kymo writes to stderr. Example: kymo trace --steps 10:20 -- "
      "python train.py --lr 0.1\n"
      "To compare: kymo trace --repeat 5 --label before -- python train.py, the same with --label after, then "
      "kymo compare before after");
  session.on(*command, [&session, arguments] { return trace(*arguments, session.command_line); });
}

}  // namespace kymo::cli
