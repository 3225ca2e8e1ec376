// SPDX-License-Identifier: Apache-2.0
#include "measure/plan.hpp"

#include <algorithm>
#include <vector>

#include "base/enum_names.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "measure/json_field.hpp"

namespace kymo::measure {
namespace {

constexpr auto kDeviceKinds =
    enum_names<DeviceKind>("device", {{DeviceKind::kCpu, "cpu"}, {DeviceKind::kCuda, "cuda"}});
constexpr auto kPasses = enum_names<Pass>("pass", {{Pass::kTime, "time"},
                                                   {Pass::kVerify, "verify"},
                                                   {Pass::kMemory, "memory"},
                                                   {Pass::kTrace, "trace"},
                                                   {Pass::kOps, "ops"}});
constexpr auto kSyncs = enum_names<Sync>("synchronization", {{Sync::kStep, "step"}, {Sync::kPhase, "phase"}});

std::string key_of(const Json& content) { return sha256(dump_json(content)).substr(0, 16); }

Json identity(const Case& what) {
  Json parameters = Json::object();
  for (const auto& [name, value] : what.parameters) parameters[name] = to_json(value);
  return {{"workload", what.workload},
          {"parameters", parameters},
          {"ranks", what.ranks},
          {"device", to_string(what.device)}};
}

template <typename T>
T field(const Json& json, const char* name) {
  return required_field<T>(json, name, "a plan");
}

const std::vector<std::string>& timings() {
  static const std::vector<std::string> names = {kSyncTiming, kHotTiming, kColdTiming};
  return names;
}

bool is_timing(const std::string& text) {
  return std::find(timings().begin(), timings().end(), text) != timings().end();
}

}  // namespace

std::string to_text(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return shortest_text(*real);
  return std::get<std::string>(value);
}

const char* to_string(DeviceKind kind) { return kDeviceKinds.name(kind); }
const char* to_string(Pass pass) { return kPasses.name(pass); }
const char* to_string(Sync sync) { return kSyncs.name(sync); }
DeviceKind device_kind_from(const std::string& text) { return kDeviceKinds.value(text); }
Pass pass_from(const std::string& text) { return kPasses.value(text); }
Sync sync_from(const std::string& text) { return kSyncs.value(text); }

std::string case_key(const Case& what) { return key_of(identity(what)); }

std::string plan_key(const Case& what, const Method& method) {
  Json described = to_json(method);
  described.erase("timeout_s");  // limits on a run do not change what it measures
  described.erase("host_memory_bytes");
  Json all{{"case", identity(what)}, {"method", described}, {"plugin", what.plugin_sha256}};
  if (!what.plugin_libraries.empty()) all["libraries"] = what.plugin_libraries;
  return key_of(all);
}

Method method_in(const Method& method, Pass pass) {
  if (!observes(pass)) return method;
  Method observed = method;
  observed.timing = kSyncTiming;  // --timing affects the time pass only; attributing events requires a synchronization
                                  // after each step
  observed.warmup = std::min(method.warmup, method.observation.warmup);
  observed.steps = method.until ? method.observation.steps : std::min(method.steps, method.observation.steps);
  observed.until.reset();
  return observed;
}

std::string timing_from(const std::string& text) {
  if (!is_timing(text)) throw UsageError("unknown timing " + quote(text) + suggestion(text, timings()));
  return text;
}

std::string timing_error(const Method& method, const Case& what, const StepProperties& step) {
  if (method.timing == kSyncTiming) return "";
  if (!is_timing(method.timing))
    return "unsupported timing " + quote(method.timing) + "; supported: " + join(timings(), ", ");
  const std::string prefix = "workload " + quote(what.workload) + " does not support timing " + method.timing + ": ";
  if (step.phases == 0) return prefix + "it declares no phase, but hot and cold time a phase";
  if (!step.asynchronous)
    return prefix + "its step is not declared asynchronous; a step that waits for the device needs sync";
  if (what.ranks != 1)
    return prefix + std::to_string(what.ranks) + " ranks synchronize before each step, but hot and cold need one rank";
  if (method.sync == Sync::kPhase)
    return prefix + "--sync phase waits for the device within the step, but hot and cold need --sync step";
  return "";
}

Json to_json(const Value& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

Value value_from_json(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  throw Error("a parameter value must be a bool, number or string");
}

Json to_json(const Case& what) {
  Json json = identity(what);
  json["plugin_file"] = what.plugin_file;
  json["plugin_sha256"] = what.plugin_sha256;
  json["plugin_libraries"] = what.plugin_libraries;
  return json;
}

Case case_from_json(const Json& json) {
  Case what;
  what.plugin_file = field<std::string>(json, "plugin_file");
  what.plugin_sha256 = field<std::string>(json, "plugin_sha256");
  what.plugin_libraries = field<std::map<std::string, std::string>>(json, "plugin_libraries");
  what.workload = field<std::string>(json, "workload");
  const auto parameters = field<Json>(json, "parameters");
  for (const auto& [name, value] : parameters.items()) what.parameters[name] = value_from_json(value);
  what.ranks = field<int>(json, "ranks");
  what.device = device_kind_from(field<std::string>(json, "device"));
  return what;
}

Json to_json(const Observation& observation) {
  return {{"warmup", observation.warmup},
          {"steps", observation.steps},
          {"memsets", observation.memsets},
          {"synchronization", observation.synchronization},
          {"overhead_records", observation.overhead_records},
          {"api_calls", observation.api_calls},
          {"shapes", observation.shapes},
          {"stacks", observation.stacks},
          {"memory_bytes", observation.memory_bytes},
          {"kernel_classes", observation.kernel_classes}};
}

Json to_json(const Method& method) {
  Json passes = Json::array();
  for (const Pass pass : method.passes) passes.push_back(to_string(pass));
  Json json = {{"warmup", method.warmup},
               {"steps", method.steps},
               {"sync", to_string(method.sync)},
               {"timing", method.timing},
               {"passes", passes},
               {"seed", method.seed},
               {"timeout_s", method.timeout_s},
               {"host_memory_bytes", method.host_memory_bytes},
               {"fresh", method.fresh},
               {"wrap", method.wrap}};
  // Methods without observing passes omit the observation, so that their plan keys do not change.
  if (std::any_of(method.passes.begin(), method.passes.end(), observes))
    json["observation"] = to_json(method.observation);
  if (method.until) {
    json["until"] = {{"relative_standard_error", method.until->relative_standard_error},
                     {"min_samples", method.until->min_samples},
                     {"max_samples", method.until->max_samples},
                     {"max_seconds", method.until->max_seconds}};
  }
  return json;
}

Observation observation_from_json(const Json& json) {
  Observation observation;
  observation.warmup = field<std::int64_t>(json, "warmup");
  observation.steps = field<std::int64_t>(json, "steps");
  observation.memsets = field<bool>(json, "memsets");
  observation.synchronization = field<bool>(json, "synchronization");
  observation.overhead_records = field<bool>(json, "overhead_records");
  observation.api_calls = field<bool>(json, "api_calls");
  observation.shapes = field<bool>(json, "shapes");
  observation.stacks = field<bool>(json, "stacks");
  observation.memory_bytes = field<std::int64_t>(json, "memory_bytes");
  observation.kernel_classes = field<std::string>(json, "kernel_classes");
  return observation;
}

Method method_from_json(const Json& json) {
  Method method;
  method.warmup = field<std::int64_t>(json, "warmup");
  method.steps = field<std::int64_t>(json, "steps");
  method.sync = sync_from(field<std::string>(json, "sync"));
  method.timing = field<std::string>(json, "timing");
  method.passes.clear();
  const auto passes = field<std::vector<std::string>>(json, "passes");
  for (const auto& text : passes) method.passes.push_back(pass_from(text));
  method.seed = field<std::uint64_t>(json, "seed");
  method.timeout_s = field<double>(json, "timeout_s");
  method.host_memory_bytes = field<std::int64_t>(json, "host_memory_bytes");
  method.fresh = field<bool>(json, "fresh");
  method.wrap = field<std::string>(json, "wrap");
  if (json.contains("observation")) method.observation = observation_from_json(json.at("observation"));
  if (json.contains("until")) {
    const Json& until = json.at("until");
    method.until =
        StoppingRule{field<double>(until, "relative_standard_error"), field<std::int64_t>(until, "min_samples"),
                     field<std::int64_t>(until, "max_samples"), field<double>(until, "max_seconds")};
  }
  return method;
}

}  // namespace kymo::measure
