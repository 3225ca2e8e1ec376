// SPDX-License-Identifier: Apache-2.0
#include "cli/case_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace kymo::cli {

void add_case_options(CLI::App& command, CaseOptions& options, Axes axes) {
  command.add_option("workload", options.workloads, "names, or FILE.so, or FILE.so:NAME")
      ->required()
      ->type_name("WORKLOAD");
  command.add_option("--set", options.set, "fix a parameter: name=value")->type_name("P=V")->allow_extra_args(false);
  if (axes == Axes::kAdmitted) {
    command
        .add_option("--axis", options.axes,
                    "give a parameter several values: name=v1,v2 or name=lo..hi*factor or name=lo..hi+step; the name "
                    "alone takes the "
                    "workload's own values")
        ->type_name("P=VALUES")
        ->allow_extra_args(false);
  }
  command
      .add_option_function<std::string>(
          "--ranks",
          [&options](const std::string& text) { options.ranks = whole_number("--ranks", text, 1, kMostRanks); },
          "processes of each run, all started here [1; under torchrun or srun: all of its ranks]")
      ->type_name("N");
}

Order order_of(const CaseOptions& options) {
  Order order;
  order.ranks = options.ranks ? Ranks::kStartedHere : Ranks::kOfLaunch;
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
