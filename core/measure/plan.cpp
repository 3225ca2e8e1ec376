// SPDX-License-Identifier: Apache-2.0
#include "measure/plan.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "measure/settings.hpp"

namespace kymo::measure {

std::string to_text(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return shortest_text(*real);
  return std::get<std::string>(value);
}

std::string to_text(const StoppingRule& rule) {
  std::string text = shortest_text(rule.min_seconds) + " s";
  if (rule.relative_standard_error) text += ", " + shortest_text(100 * *rule.relative_standard_error) + " %";
  return text;
}

Method method_in(const Method& method, Pass pass) {
  if (!observes(pass)) return method;
  Method observed = method;
  // --timing affects the time pass only: attributing events requires a synchronization after each step.
  if (method.timing != Timing::kFree) observed.timing = Timing::kSync;
  observed.warmup = std::min(method.warmup, method.observation.warmup);
  observed.steps = method.until ? method.observation.steps : std::min(method.steps, method.observation.steps);
  observed.until.reset();
  if (pass == Pass::kPredict) observed.warmup = observed.steps = 1;  // the first step creates the optimizer's state
  return observed;
}

std::string timing_error(const Method& method, const Case& what, const StepProperties& step) {
  if (method.timing == Timing::kSync || method.timing == Timing::kFree) return "";
  const std::string prefix =
      "workload " + quote(what.workload) + " does not support timing " + to_string(method.timing) + ": ";
  if (step.phases == 0) return prefix + "it declares no phase, but hot and cold time a phase";
  if (!step.asynchronous)
    return prefix + "its step is not declared asynchronous; a step that waits for the device needs sync";
  if (what.ranks != 1)
    return prefix + std::to_string(what.ranks) + " ranks synchronize before each step, but hot and cold need one rank";
  if (method.sync == Sync::kPhase)
    return prefix + "--sync phase waits for the device within the step, but hot and cold need --sync step";
  return "";
}

std::string counting_error(const Method& method, const Case& what) {
  if (method.counter_ranges != CounterRanges::kKernel || what.ranks == 1) return "";
  return "--counter-ranges kernel needs one rank, not " + std::to_string(what.ranks) +
         ": it runs one kernel at a time, and a collective that waits for another rank may never end; "
         "count by phase or scope";
}

void to_json(Json& json, const Method& method) {
  for (const Setting& setting : settings()) {
    if (!setting.type.to_json) continue;
    Json value = setting.type.to_json(method);
    if (!setting.omits_default || value != setting.type.to_json({})) json[setting.field()] = std::move(value);
  }
  // Methods without observing passes omit the observation, so that their plan keys do not change.
  if (std::ranges::any_of(method.passes, observes)) json["observation"] = method.observation;
  if (method.until) json["until"] = *method.until;
}

void from_json(const Json& json, Method& method) {
  for (const Setting& setting : settings())
    if (setting.type.from_json && (!setting.omits_default || json.contains(setting.field())))
      setting.type.from_json(method, json, setting.field());
  if (json.contains("observation")) method.observation = json["observation"].get<Observation>();
  if (json.contains("until")) method.until = json["until"].get<StoppingRule>();
}

}  // namespace kymo::measure

void nlohmann::adl_serializer<kymo::measure::Value>::to_json(kymo::Json& json, const kymo::measure::Value& value) {
  std::visit([&](const auto& held) { json = held; }, value);
}

void nlohmann::adl_serializer<kymo::measure::Value>::from_json(const kymo::Json& json, kymo::measure::Value& value) {
  if (json.is_boolean())
    value = json.get<bool>();
  else if (kymo::measure::is_exact<std::int64_t>(json))
    value = json.get<std::int64_t>();
  else if (json.is_number_integer())
    throw kymo::Error("a parameter value must be at most 2^63 - 1");
  else if (json.is_number())
    value = json.get<double>();
  else if (json.is_string())
    value = json.get<std::string>();
  else
    throw kymo::Error("a parameter value must be a bool, number or string");
}
