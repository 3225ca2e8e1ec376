// SPDX-License-Identifier: Apache-2.0
#include "cli/case_options.hpp"

#include <CLI/CLI.hpp>
#include <utility>

#include "base/error.hpp"
#include "cli/commands.hpp"

namespace kymo::cli {

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

}  // namespace kymo::cli
