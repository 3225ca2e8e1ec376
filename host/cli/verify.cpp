// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/execute.hpp"

namespace kymo::cli {
namespace {

struct Arguments {
  std::vector<std::string> workloads, set;
  std::int64_t ranks = 1;
  RunOptions options;
};

int verify(const Arguments& arguments, const std::string& command_line) {
  Order order;
  for (const std::string& workload : arguments.workloads) {
    CaseSpec spec;
    spec.workload = workload;
    for (const std::string& text : arguments.set) spec.set.push_back(name_and_value("--set", text));
    spec.ranks = {arguments.ranks};
    spec.method.passes = {measure::Pass::kVerify};
    order.specs.push_back(std::move(spec));
  }
  Targets targets(arguments.options.plugins);
  return execute(order, targets, arguments.options, command_line);
}

}  // namespace

void add_verify(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  arguments->options.show_checks = true;
  CLI::App* command = app.add_subcommand("verify", "Compares what workloads compute with their references, without timing them");
  command->add_option("workload", arguments->workloads, "names, or FILE.so, or FILE.so:NAME")->required()->type_name("WORKLOAD");
  command->add_option("--set", arguments->set, "fix a parameter: name=value")->type_name("P=V")->allow_extra_args(false);
  command
      ->add_option_function<std::string>(
          "--ranks", [arguments](const std::string& text) { arguments->ranks = whole_number("--ranks", text, 1, kMostRanks); },
          "processes of each run [1]")
      ->type_name("N");
  add_worker_options(*command, arguments->options);
  command->add_flag("--json", arguments->options.json, "print JSON instead of a table");
  add_database_option(*command, arguments->options.database);
  add_plugin_options(*command, arguments->options.plugins);
  command->callback([&session, arguments] { session.action = [&session, arguments] { return verify(*arguments, session.command_line); }; });
}

}  // namespace kymo::cli
