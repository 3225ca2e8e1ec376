// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/case_options.hpp"
#include "cli/commands.hpp"
#include "cli/execute.hpp"

namespace kymo::cli {
namespace {

struct VerifyArguments {
  CaseOptions cases;
  RunOptions options;
};

int verify(const VerifyArguments& arguments, const std::string& command_line) {
  Order order = order_of(arguments.cases);
  for (CaseSpec& spec : order.specs) spec.method.passes = {measure::Pass::kVerify};
  Targets targets(arguments.options.plugins);
  return execute(order, targets, arguments.options, command_line);
}

}  // namespace

void add_verify(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<VerifyArguments>();
  arguments->options.show_checks = true;
  CLI::App* command =
      app.add_subcommand("verify", "Compare the results of workloads with their references, without timing them");
  add_case_options(*command, arguments->cases, Axes::kNone);
  add_worker_options(*command, arguments->options);
  command->add_flag("--json", arguments->options.json, "print JSON instead of a table");
  add_database_option(*command, arguments->options.database);
  add_plugin_options(*command, arguments->options.plugins);
  command->callback([&session, arguments] {
    session.action = [&session, arguments] { return verify(*arguments, session.command_line); };
  });
}

}  // namespace kymo::cli
