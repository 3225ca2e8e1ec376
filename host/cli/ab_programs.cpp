// SPDX-License-Identifier: Apache-2.0
#include "cli/ab_programs.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/program_plan.hpp"

namespace kymo::cli {
namespace {

bool is_command(const std::string& candidate) { return trim(candidate).find(' ') != std::string::npos; }

void reject_options_of_workloads(const RunOptions& options) {
  for (const auto& [name, is_given] : {std::pair{"--seed", options.seed.has_value()},
                                       {"--wrap", !options.wrap.empty()},
                                       {"--min-time", options.min_time_s.has_value()},
                                       {"--max-steps", options.max_steps.has_value()},
                                       {"--until", options.until.has_value()},
                                       {"--timing", options.timing.has_value()},
                                       {"--sync", options.sync.has_value()},
                                       {"--no-verify", options.no_verify}})
    if (is_given)
      throw UsageError(std::string(name) +
                       " does not apply to programs, which run their steps themselves; use --warmup "
                       "and --steps");
}

measure::Method method_of(const RunOptions& options) {
  measure::Method method = program_method(options);
  if (options.warmup) method.warmup = *options.warmup;
  method.steps = options.steps.value_or(measure::kMaxFreeSteps);
  method.passes = {measure::Pass::kTime};
  return method;
}

}  // namespace

bool are_programs(const std::vector<std::string>& candidates) {
  const auto command = std::ranges::find_if(candidates, is_command);
  const auto workload = std::ranges::find_if_not(candidates, is_command);
  if (command != candidates.end() && workload != candidates.end())
    throw UsageError("a program cannot be compared with a workload: " + quote(*command) +
                     " is a command, because it contains a space, and " + quote(*workload) + " is a workload");
  return command != candidates.end();
}

std::vector<supervisor::PlannedRun> planned_programs(const std::vector<std::string>& candidates,
                                                     std::optional<std::int64_t> ranks, const RunOptions& options) {
  reject_options_of_workloads(options);
  std::vector<supervisor::PlannedRun> runs;
  std::set<std::vector<std::string>> commands;
  for (const std::string& text : candidates) {
    const std::vector<std::string> command = shell_words(text);
    if (!commands.insert(command).second) throw UsageError("candidate " + quote(text) + " is identical to another one");
    supervisor::PlannedRun& run =
        runs.emplace_back(plan_program({command, options.device.value_or(DeviceChoice::kAuto), ranks}));
    run.method = method_of(options);
    run.program.stop = options.steps.has_value();
    run.program.captures_output = true;
  }
  return runs;
}

}  // namespace kymo::cli
