// SPDX-License-Identifier: Apache-2.0
#include "measure/equivalence.hpp"

#include <set>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"
#include "measure/settings.hpp"

namespace kymo::measure {
namespace {

Json method_without_limits(const Method& method) {
  Json json = method;
  for (const Setting& setting : settings())
    if (setting.is_limit) json.erase(setting.field());
  return json;
}

/// The values that equivalent runs have in common.
Json common_values(const RunIdentity& run, Equivalence equivalence) {
  const Case& what = run.what;
  const Method& method = run.method;
  const Json workload{
      {"workload", what.workload}, {"parameters", what.parameters}, {"ranks", what.ranks}, {"device", what.device}};
  switch (equivalence) {
    case Equivalence::kCase:
      return Json::array({workload, method.timing, method.sync});
    case Equivalence::kSettings:
      return Json::array({workload, method.timing, method.sync, run.suite, run.suite_case, method.warmup, method.steps,
                          method.until ? Json(*method.until) : Json(nullptr), method.passes, method.seed});
    case Equivalence::kPlan: {
      Json plan{{"case", workload}, {"method", method_without_limits(method)}, {"plugin", what.plugin_sha256}};
      if (!what.plugin_libraries.empty()) plan["libraries"] = what.plugin_libraries;
      if (!what.plugin_interpreter.empty()) plan["interpreter"] = what.plugin_interpreter;
      return plan;
    }
    case Equivalence::kWorker:
      return Json::array({what.plugin_file, what.plugin_sha256, what.plugin_interpreter, what.workload, what.ranks,
                          to_string(what.device), method.wrap});
    case Equivalence::kJob:
      return Json::array({workload, method, run.suite, run.suite_case, run.repetition});
  }
  return nullptr;
}

std::string shown_name(const std::string& name, const Settings& settings) {
  return name.starts_with("--") && !settings.contains(name.substr(2)) ? name.substr(2) : name;
}

}  // namespace

std::string equivalence_key(const RunIdentity& run, Equivalence equivalence) {
  constexpr std::size_t kDigits = 16;
  return sha256(dump_json(common_values(run, equivalence))).substr(0, kDigits);
}

std::map<std::string, std::set<std::string>> differing_names(const std::vector<WorkloadSettings>& runs, bool all) {
  std::map<std::pair<std::string, std::string>, std::string> first;
  std::map<std::string, std::set<std::string>> names;
  for (const WorkloadSettings& run : runs) {
    std::set<std::string>& shown = names[run.workload];
    for (const auto& [name, value] : run.settings)
      if (first.try_emplace({run.workload, name}, value).first->second != value || all) shown.insert(name);
  }
  return names;
}

std::vector<std::string> differing(const std::vector<WorkloadSettings>& runs, bool all) {
  const auto names = differing_names(runs, all);
  std::vector<std::string> texts;
  for (const WorkloadSettings& run : runs) {
    std::vector<std::string> parts;
    for (const auto& [name, value] : run.settings)
      if (names.at(run.workload).contains(name)) parts.push_back(shown_name(name, run.settings) + "=" + value);
    texts.push_back(join(parts, " "));
  }
  return texts;
}

}  // namespace kymo::measure
