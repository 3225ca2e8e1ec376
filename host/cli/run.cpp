// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/execute.hpp"

namespace kymo::cli {
namespace {

struct Arguments {
  std::vector<std::string> workloads, set, axes;
  std::int64_t ranks = 1;
  RunOptions options;
};

int run(const Arguments& arguments, const std::string& command_line) {
  Order order;
  for (const std::string& workload : arguments.workloads) {
    CaseSpec spec;
    spec.workload = workload;
    for (const std::string& text : arguments.set) spec.set.push_back(name_and_value("--set", text));
    for (const std::string& text : arguments.axes) spec.axes.push_back(axis_from(text));
    spec.ranks = {arguments.ranks};
    order.specs.push_back(std::move(spec));
  }
  Targets targets(arguments.options.plugins);
  return execute(order, targets, arguments.options, command_line);
}

}  // namespace

void add_run(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("run", "Measures workloads and stores what they did");
  command->add_option("workload", arguments->workloads, "names, or FILE.so, or FILE.so:NAME")->required()->type_name("WORKLOAD");
  command->add_option("--set", arguments->set, "fix a parameter: name=value")->type_name("P=V")->allow_extra_args(false);
  command
      ->add_option("--axis", arguments->axes,
                   "give a parameter several values: name=v1,v2 or name=lo..hi*factor or name=lo..hi+step; the name alone takes the "
                   "workload's own values")
      ->type_name("P=VALUES")
      ->allow_extra_args(false);
  command
      ->add_option_function<std::string>(
          "--ranks", [arguments](const std::string& text) { arguments->ranks = whole_number("--ranks", text, 1, kMostRanks); },
          "processes of each run [1]")
      ->type_name("N");
  add_worker_options(*command, arguments->options);
  add_method_options(*command, arguments->options);
  add_selection_options(*command, arguments->options);
  add_database_option(*command, arguments->options.database);
  add_plugin_options(*command, arguments->options.plugins);
  command->footer("Example: kymo run transformer_lm --set mode=train --axis size=small,medium --axis context=128..512*2");
  command->callback([&session, arguments] { session.action = [&session, arguments] { return run(*arguments, session.command_line); }; });
}

}  // namespace kymo::cli
