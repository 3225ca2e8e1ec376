// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cli/case_options.hpp"
#include "cli/commands.hpp"
#include "cli/execute.hpp"

namespace kymo::cli {
namespace {

struct RunArguments {
  CaseOptions cases;
  RunOptions options;
  std::optional<Peer> against;
};

int run(const RunArguments& arguments, const std::string& command_line) {
  Order order = order_of(arguments.cases);
  order.against = arguments.against;
  Targets targets(arguments.options.plugins);
  return execute(order, targets, arguments.options, command_line);
}

}  // namespace

void add_run(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "Run and measure workloads and store the results");
  add_case_options(*command, arguments->cases, Axes::kAllowed);
  command
      ->add_option_function<std::string>(
          "--against", [arguments](const std::string& text) { arguments->against = peer_from(text); },
          "also run this workload, interleaved with each case and with the same values for shared parameters, and show "
          "both side by side")
      ->type_name("WORKLOAD[:P=V,...]");
  add_worker_options(*command, arguments->options);
  add_method_options(*command, arguments->options);
  add_observation_options(*command, arguments->options);
  add_selection_options(*command, arguments->options);
  add_database_option(*command, arguments->options.database);
  add_plugin_options(*command, arguments->options.plugins);
  command->footer(
      "Example: kymo run transformer_lm --set mode=train --axis size=small,medium --axis context=128..512*2");
  command->callback([&session, arguments] {
    session.action = [&session, arguments] { return run(*arguments, session.command_line); };
  });
}

}  // namespace kymo::cli
