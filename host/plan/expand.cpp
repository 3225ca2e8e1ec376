// SPDX-License-Identifier: Apache-2.0
#include "plan/expand.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "measure/plan.hpp"
#include "plan/regex.hpp"

namespace kymo::plan {
namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

/// The device of a case, and the reason why it is unavailable or empty.
struct Placement {
  measure::DeviceKind device = measure::DeviceKind::kCpu;
  std::string missing;
};

std::string gpu_shortage(const Gpus& gpus, std::int64_t all_ranks) {
  const std::int64_t ranks = std::min(all_ranks, gpus.max_needed);
  if (gpus.count == 0) return "no GPU available: " + gpus.reason;
  if (gpus.count < ranks)
    return std::to_string(ranks) + " ranks need one GPU each; GPUs available: " + std::to_string(gpus.count);
  return "";
}

Placement choose_placement(const CaseSpec& spec, const catalog::Workload& workload, std::int64_t ranks,
                           const std::function<Gpus()>& gpus) {
  using measure::DeviceKind;
  const auto admit = [&](bool supported, const char* device) {
    if (!supported) throw UsageError("workload " + quote(workload.name) + " does not run on device " + device);
  };
  const auto on_cpu = [] { return Placement{DeviceKind::kCpu, ""}; };
  const auto on_cuda = [&] { return Placement{DeviceKind::kCuda, gpu_shortage(gpus(), ranks)}; };
  if (spec.device == DeviceChoice::kCpu) {
    admit(workload.runs_on_cpu, "cpu");
    return on_cpu();
  }
  if (spec.device == DeviceChoice::kCuda) {
    admit(workload.runs_on_cuda, "cuda");
    return on_cuda();
  }
  if (!workload.runs_on_cuda) return on_cpu();
  const Placement placement = on_cuda();
  return !placement.missing.empty() && workload.runs_on_cpu ? on_cpu() : placement;
}

/// The number of ranks that `ranks` of a case stands for.
std::int64_t number_of_ranks(std::int64_t ranks, const CaseSpec& spec, const catalog::Workload& workload,
                             const std::function<Gpus()>& gpus) {
  if (ranks != kOnePerGpu) return ranks;
  const std::int64_t least = std::max<std::int64_t>(workload.min_ranks, 1);
  if (spec.device == DeviceChoice::kCpu || !workload.runs_on_cuda) return least;
  const std::int64_t most = workload.max_ranks == 0 ? kMaxRanks : workload.max_ranks;
  return std::clamp<std::int64_t>(gpus().count, least, most);
}

void check_ranks(const catalog::Workload& workload, std::int64_t ranks) {
  if (ranks < workload.min_ranks || (workload.max_ranks > 0 && ranks > workload.max_ranks)) {
    throw UsageError("workload " + quote(workload.name) + " runs on " +
                     (workload.max_ranks == 0 ? "at least " + std::to_string(workload.min_ranks)
                      : workload.max_ranks == workload.min_ranks
                          ? std::to_string(workload.min_ranks)
                          : std::to_string(workload.min_ranks) + " to " + std::to_string(workload.max_ranks)) +
                     " ranks, not " + std::to_string(ranks));
  }
}

void check_given_once(const CaseSpec& spec, const catalog::Workload& workload) {
  std::set<std::string> given;
  const auto add = [&](const std::string& name) {
    if (!given.insert(name).second)
      throw UsageError("parameter " + quote(name) + " of workload " + quote(workload.name) + " is given twice");
  };
  for (const auto& [name, value] : spec.set) add(name);
  for (const Axis& axis : spec.axes) add(axis.parameter);
}

void check_timing(const catalog::Workload& workload, const supervisor::PlannedRun& run) {
  const std::string validation_error = measure::timing_error(
      run.method, run.what, {.phases = workload.phases.size(), .asynchronous = workload.asynchronous_step});
  if (!validation_error.empty()) throw UsageError(validation_error);
  if (contains(run.method.passes, measure::Pass::kCounters))
    if (const std::string reason = measure::counting_error(run.method, run.what); !reason.empty())
      throw UsageError(reason);
  if (run.method.timing == measure::Timing::kFree)
    throw UsageError("timing free is that of programs that run their steps themselves: use 'kymo trace'");
}

/// Every combination of the axis values; the last axis varies fastest.
std::vector<Texts> combine(const CaseSpec& spec, const catalog::Workload& workload) {
  check_given_once(spec, workload);
  std::vector<Texts> combinations{spec.set};
  const std::size_t others = spec.ranks.size() * methods_of(spec).size();
  for (const Axis& axis : spec.axes) {
    const std::vector<std::string> values = axis_values(axis, workload);
    if (combinations.size() * values.size() * others > kMaxCases) {
      throw UsageError("workload " + quote(workload.name) + " has more than " + std::to_string(kMaxCases) +
                       " cases; reduce the number of axis values");
    }
    std::vector<Texts> longer;
    longer.reserve(combinations.size() * values.size());
    for (const Texts& texts : combinations) {
      for (const std::string& value : values) {
        longer.push_back(texts);
        longer.back().emplace_back(axis.parameter, value);
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

store::PluginRow plugin_row(const catalog::Plugin& plugin) {
  return {.name = plugin.name,
          .version = plugin.version,
          .file = plugin.file.file.string(),
          .sha256 = catalog::identity_sha256(plugin.file),
          .framework = plugin.file.framework,
          .framework_version = plugin.file.framework_version,
          .cuda_version = plugin.file.cuda_version,
          .compiler = plugin.file.compiler};
}

store::RunTitle run_title(const catalog::Workload& workload, const measure::Parameters& values) {
  store::RunTitle title{
      .workload = workload.title, .family = workload.family, .family_order = workload.family_order, .parameters = {}};
  for (const catalog::Parameter& parameter : workload.parameters) {
    const measure::Value& value = values.at(parameter.name);
    const bool shown = parameter.titled_at_default || value != parameter.default_value;
    auto& part = title.parameters[parameter.name];
    part = {.position = static_cast<int>(title.parameters.size()) - 1,
            .title = shown ? parameter.title : "",
            .is_setting = parameter.is_setting,
            .choice = {}};
    const auto choice = std::ranges::find(parameter.choices, measure::to_text(value));
    if (choice != parameter.choices.end()) part.choice = static_cast<int>(choice - parameter.choices.begin());
  }
  return title;
}

}  // namespace

std::vector<PlannedCase> expand(const CaseSpec& spec, const catalog::Plugin& plugin, const catalog::Workload& workload,
                                const std::function<Gpus()>& gpus, MissingDevice missing) {
  const std::vector<Texts> combinations = combine(spec, workload);
  const std::vector<measure::Method> methods = methods_of(spec);
  std::vector<PlannedCase> cases;
  cases.reserve(spec.ranks.size() * combinations.size() * methods.size());
  for (const std::int64_t stated : spec.ranks) {
    const std::int64_t ranks = number_of_ranks(stated, spec, workload, gpus);
    check_ranks(workload, ranks);
    const Placement placement = choose_placement(spec, workload, ranks, gpus);
    const bool needs_device = std::ranges::any_of(
        methods, [](const measure::Method& method) { return method.passes != std::vector{measure::Pass::kPredict}; });
    if (!placement.missing.empty() && needs_device && missing == MissingDevice::kUsageError) {
      throw UsageError("workload " + quote(workload.name) + " cannot run on device " + to_string(placement.device) +
                       ": " + placement.missing);
    }
    for (const Texts& texts : combinations) {
      for (const measure::Method& method : methods) {
        PlannedCase planned;
        planned.repeat = spec.repeat;
        auto& run = planned.run;
        run.what = {.plugin_file = plugin.file.file.string(),
                    .plugin_sha256 = catalog::identity_sha256(plugin.file),
                    .plugin_libraries = plugin.file.libraries,
                    .plugin_interpreter = plugin.file.interpreter.string(),
                    .workload = workload.name,
                    .parameters = catalog::bind_parameters(workload, texts),
                    .ranks = static_cast<int>(ranks),
                    .device = placement.device};
        run.method = method;
        check_timing(workload, run);
        run.plugin = plugin_row(plugin);
        if (!plugin.file.interpreter.empty()) run.plugin_description = dump_json(catalog::to_json(plugin));
        run.title = run_title(workload, run.what.parameters);
        run.suite = spec.suite;
        run.suite_case = spec.name;
        if (!supervisor::predicts_only(run)) run.skip_reason = placement.missing;
        cases.push_back(std::move(planned));
      }
    }
  }
  return cases;
}

std::string full_title(const supervisor::PlannedRun& run) {
  std::string title = run.suite_case.empty() ? "" : run.suite_case + " ";
  title += run.what.workload;
  for (const auto& [name, value] : run.what.parameters) title += " " + name + "=" + measure::to_text(value);
  return title;
}

std::vector<PlannedCase> matching(std::vector<PlannedCase> cases, const std::string& expression) {
  const Regex regex("--filter", expression);
  std::erase_if(cases, [&](const PlannedCase& planned) { return !regex.found_in(full_title(planned.run)); });
  if (cases.empty())
    throw UsageError("--filter " + quote(expression) +
                     " matches no case; list all cases with --plan and without --filter");
  return cases;
}

std::vector<PlannedCase> shard_of(std::vector<PlannedCase> cases, Shard shard) {
  std::vector<PlannedCase> part;
  for (std::size_t index = static_cast<std::size_t>(shard.index) - 1; index < cases.size();
       index += static_cast<std::size_t>(shard.count)) {
    part.push_back(std::move(cases[index]));
  }
  return part;
}

std::vector<supervisor::PlannedRun> repeated(const std::vector<PlannedCase>& cases) {
  std::int64_t most = 0;
  for (const PlannedCase& planned : cases) most = std::max(most, planned.repeat);
  std::vector<supervisor::PlannedRun> runs;
  for (std::int64_t repetition = 0; repetition < most; ++repetition) {
    for (const PlannedCase& planned : cases) {
      if (repetition >= planned.repeat) continue;
      runs.push_back(planned.run);
      runs.back().repetition = static_cast<int>(repetition);
    }
  }
  return runs;
}

std::vector<supervisor::PlannedRun> unfinished(std::vector<supervisor::PlannedRun> runs,
                                               const std::function<int(const std::string& plan_key)>& finished) {
  std::map<std::string, int> left;
  std::erase_if(runs, [&](const supervisor::PlannedRun& run) {
    const std::string key = measure::equivalence_key(run, measure::Equivalence::kPlan);
    const auto [position, is_new] = left.try_emplace(key, 0);
    if (is_new) position->second = finished(key);
    return position->second-- > 0;
  });
  return runs;
}

}  // namespace kymo::plan
