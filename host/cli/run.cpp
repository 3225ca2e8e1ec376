// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "cli/case_options.hpp"
#include "cli/commands.hpp"
#include "cli/execute.hpp"
#include "cli/typed_option.hpp"

namespace kymo::cli {
namespace {

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
