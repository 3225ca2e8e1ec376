// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "catalog/plugin_file.hpp"

namespace kymo::catalog {
namespace {

constexpr int kMaxRanks = 1 << 20;
constexpr int kMaxOrder = 999;

void check_name(const std::string& name, const std::string& what) {
  if (!is_name(name)) throw Error(what + " is " + quote(name) + "; " + kNameRule);
}

/// Defaults and axes pass through the same checks as values from the user.
void check_parameter(const Parameter& parameter, const std::string& workload) {
  check_name(parameter.name, "the name of a parameter of " + workload);
  if (parameter.type == ParameterType::kChoice && parameter.choices.empty())
    throw Error("parameter " + quote(parameter.name) + " of " + workload + " is a choice without choices");
  const auto check = [&](const char* which, const auto& take) {
    try {
      take();
    } catch (const UsageError& problem) {
      throw Error("invalid " + std::string(which) + " in " + workload + ": " + problem.what());
    }
  };
  check("default", [&] { check_value(parameter, parameter.default_value); });
  check("axis value", [&] {
    for (const std::string& value : parameter.axis) parse_value(parameter, value);
  });
}

/// Titles may spell choices in another way: "{cudnn=cuDNN|math=unfused}".
void check_title(const Parameter& parameter, const std::string& workload) {
  const std::string& title = parameter.title;
  const std::size_t begin = title.find('{'), end = title.find('}');
  if (begin == std::string::npos && end == std::string::npos) return;
  const auto reject = [&](const std::string& reason) {
    throw Error("the title of parameter " + quote(parameter.name) + " of " + workload + " is " + quote(title) + "; " +
                reason);
  };
  if (begin > end || end == std::string::npos || title.find_first_of("{}", end + 1) != std::string::npos ||
      title.find('{', begin + 1) != std::string::npos)
    reject("it may contain braces once: {}, or {VALUE=TITLE|VALUE=TITLE} with titles of choices");
  const std::string list = title.substr(begin + 1, end - begin - 1);
  if (list.empty()) return;
  std::set<std::string> titled;
  for (const std::string& entry : split(list, '|')) {
    const std::string value = entry.substr(0, entry.find('='));
    if (std::find(parameter.choices.begin(), parameter.choices.end(), value) == parameter.choices.end())
      reject(quote(value) + " is not one of its choices" + suggestion(value, parameter.choices));
    if (value.size() + 1 >= entry.size()) reject(quote(value) + " has no title; write VALUE=TITLE");
    if (!titled.insert(value).second) reject(quote(value) + " has two titles");
  }
}

void check_workload(const Workload& workload) {
  check_name(workload.name, "the name of a workload");
  const std::string what = "workload " + quote(workload.name);
  std::set<std::string> parameters, phases{"step", "other"};
  for (const Parameter& parameter : workload.parameters) {
    check_parameter(parameter, what);
    check_title(parameter, what);
    if (!parameters.insert(parameter.name).second)
      throw Error(what + " declares parameter " + quote(parameter.name) + " twice");
  }
  for (const std::string& phase : workload.phases) {
    check_name(phase, "a phase of " + what);
    if (!phases.insert(phase).second)
      throw Error(what + " declares the phase " + quote(phase) + " twice, or its name is reserved");
  }
  if (!workload.runs_on_cpu && !workload.runs_on_cuda) throw Error(what + " supports no known device");
  const int low = workload.min_ranks, high = workload.max_ranks;
  if (low < 1 || low > kMaxRanks || high < 0 || high > kMaxRanks || (high != 0 && high < low))
    throw Error(what + " has invalid rank limits: " + std::to_string(low) + " to " + std::to_string(high));
  if (!workload.family.empty()) check_name(workload.family, "the family of " + what);
  if (workload.family_order < 0 || workload.family_order > kMaxOrder)
    throw Error(what + " has order " + std::to_string(workload.family_order) + " in its family; the maximum is " +
                std::to_string(kMaxOrder));
}

}  // namespace

void check_description(const Plugin& plugin) {
  check_name(plugin.name, "the name of the plugin");
  if (plugin.workloads.empty()) throw Error("it contains no workloads");
  std::set<std::string> names;
  for (const Workload& workload : plugin.workloads) {
    check_workload(workload);
    if (!names.insert(workload.name).second) throw Error("it contains two workloads named " + quote(workload.name));
  }
}

}  // namespace kymo::catalog
