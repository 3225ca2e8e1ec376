// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/execute.hpp"
#include "cli/typed_option.hpp"

namespace kymo::cli {
namespace {

/// Command-line options of `run` and `verify` that select the cases.
struct CaseOptions {
  std::vector<std::string> workloads, set, axes;
  std::optional<std::int64_t> ranks;
};

enum class Axes { kAllowed, kNone };

/// `options` must outlive the parsing of the command line.
void add_case_options(CLI::App& command, CaseOptions& options, Axes axes) {
  command.add_option("workload", options.workloads, "workload names, FILE.so or FILE.so:NAME")
      ->required()
      ->type_name("WORKLOAD");
  command
      .add_option("--set", options.set,
                  "fix a parameter: name=value; numbers may be written as 1e6, 2^20, 4M (4 × 1000²) or 4Mi (4 × 1024²)")
      ->type_name("P=V")
      ->allow_extra_args(false);
  if (axes == Axes::kAllowed) {
    command
        .add_option("--axis", options.axes,
                    "sweep a parameter over several values: name=v1,v2, name=lo..hi*factor or name=lo..hi+step; "
                    "name alone uses the workload's default values or all choices; ranks=1,2,4 sweeps the number of "
                    "processes")
        ->type_name("P=VALUES")
        ->allow_extra_args(false);
  }
  add_ranks_option(
      command, options.ranks,
      "number of processes per run, all started by this command [1; under torchrun or srun: all of its ranks]");
}

/// Returns one specification per workload. Throws UsageError for a malformed setting or axis.
Invocation invocation_of(const CaseOptions& options) {
  Invocation invocation;
  invocation.ranks = options.ranks ? Ranks::kStartedHere : Ranks::kOfLauncher;
  for (const std::string& workload : options.workloads) {
    CaseSpec spec;
    spec.workload = workload;
    for (const std::string& text : options.set) spec.set.push_back(name_and_value("--set", text));
    for (const std::string& text : options.axes) spec.axes.push_back(axis_from(text));
    spec.ranks = take_rank_axis(spec.axes);
    if (!spec.ranks.empty() && options.ranks) throw UsageError("--ranks and --axis ranks are mutually exclusive");
    if (!spec.ranks.empty()) invocation.ranks = Ranks::kStartedHere;
    if (spec.ranks.empty()) spec.ranks = {options.ranks.value_or(1)};
    invocation.specs.push_back(std::move(spec));
  }
  return invocation;
}

struct RunArguments {
  CaseOptions cases;
  RunOptions options;
  std::optional<Peer> against;
};

int run(const RunArguments& arguments, const std::string& command_line) {
  Invocation invocation = invocation_of(arguments.cases);
  invocation.against = arguments.against;
  Targets targets(arguments.options.plugins);
  return execute(invocation, targets, arguments.options, command_line);
}

int verify(const RunArguments& arguments, const std::string& command_line) {
  Invocation invocation = invocation_of(arguments.cases);
  for (CaseSpec& spec : invocation.specs) spec.method.passes = {measure::Pass::kVerify};
  Targets targets(arguments.options.plugins);
  return execute(invocation, targets, arguments.options, command_line);
}

}  // namespace

void add_run(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "Run and measure workloads and store the results");
  add_case_options(*command, arguments->cases, Axes::kAllowed);
  typed_option(
      *command, "--against", arguments->against, "WORKLOAD[:P=V,...]",
      "also run this workload, interleaved with each case and with the same values for shared parameters, and show "
      "both side by side",
      [](const std::string& text) { return peer_from(text); });
  add_run_options(*command, arguments->options);
  command->footer(
      "Example: kymo run transformer_lm --set mode=train --axis size=small,medium --axis context=128..512*2");
  session.on(*command, [&session, arguments] { return run(*arguments, session.command_line); });
}

void add_verify(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<RunArguments>();
  arguments->options.show_checks = true;
  CLI::App* command =
      app.add_subcommand("verify", "Compare the results of workloads with their references, without timing them");
  add_case_options(*command, arguments->cases, Axes::kNone);
  add_worker_options(*command, arguments->options);
  add_output_options(*command, arguments->options);
  add_database_option(*command, arguments->options.database);
  add_plugin_options(*command, arguments->options.plugins);
  session.on(*command, [&session, arguments] { return verify(*arguments, session.command_line); });
}

}  // namespace kymo::cli
