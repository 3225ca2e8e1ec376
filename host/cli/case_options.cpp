// SPDX-License-Identifier: Apache-2.0
#include "cli/case_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace kymo::cli {

void add_case_options(CLI::App& command, CaseOptions& options, Axes axes) {
  command.add_option("workload", options.workloads, "workload names, FILE.so or FILE.so:NAME")
      ->required()
      ->type_name("WORKLOAD");
  command.add_option("--set", options.set, "fix a parameter: name=value")->type_name("P=V")->allow_extra_args(false);
  if (axes == Axes::kAllowed) {
    command
        .add_option("--axis", options.axes,
                    "sweep a parameter over several values: name=v1,v2, name=lo..hi*factor or name=lo..hi+step; "
                    "name alone uses the workload's default values")
        ->type_name("P=VALUES")
        ->allow_extra_args(false);
  }
  command
      .add_option_function<std::string>(
          "--ranks",
          [&options](const std::string& text) { options.ranks = whole_number("--ranks", text, 1, kMaxRanks); },
          "number of processes per run, all started by this command [1; under torchrun or srun: all of its ranks]")
      ->type_name("N");
}

Order order_of(const CaseOptions& options) {
  Order order;
  order.ranks = options.ranks ? Ranks::kStartedHere : Ranks::kOfLauncher;
  for (const std::string& workload : options.workloads) {
    CaseSpec spec;
    spec.workload = workload;
    for (const std::string& text : options.set) spec.set.push_back(name_and_value("--set", text));
    for (const std::string& text : options.axes) spec.axes.push_back(axis_from(text));
    spec.ranks = {options.ranks.value_or(1)};
    order.specs.push_back(std::move(spec));
  }
  return order;
}

}  // namespace kymo::cli
