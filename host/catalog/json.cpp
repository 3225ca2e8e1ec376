// SPDX-License-Identifier: Apache-2.0
#include "base/enum_names.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "catalog/catalog.hpp"

namespace kymo::catalog {
namespace {

constexpr auto kTypes = enum_names<ParameterType>("parameter type", {{ParameterType::kInt, "int"},
                                                                     {ParameterType::kReal, "real"},
                                                                     {ParameterType::kBool, "bool"},
                                                                     {ParameterType::kText, "text"},
                                                                     {ParameterType::kChoice, "choice"}});

ParameterType type_from(const std::string& word) {
  if (const auto type = kTypes.find(word)) return *type;
  throw Error("unknown parameter type " + quote(word));  // a faulty plugin, not a usage error
}

/// The declared type decides, because an integral real value must be read back as a real.
measure::Value value_from(ParameterType type, const Json& json) {
  switch (type) {
    case ParameterType::kInt:
      return json.get<std::int64_t>();
    case ParameterType::kReal:
      return json.get<double>();
    case ParameterType::kBool:
      return json.get<bool>();
    default:
      return json.get<std::string>();
  }
}

Json parameter_to_json(const Parameter& parameter) {
  Json json{{"name", parameter.name},
            {"type", to_string(parameter.type)},
            {"unit", parameter.unit},
            {"documentation", parameter.documentation}};
  std::visit([&json](const auto& value) { json["default"] = value; }, parameter.default_value);
  if (parameter.minimum) json["minimum"] = *parameter.minimum;
  if (parameter.maximum) json["maximum"] = *parameter.maximum;
  if (!parameter.choices.empty()) json["choices"] = parameter.choices;
  if (!parameter.axis.empty()) json["axis"] = parameter.axis;
  json["title"] = parameter.title;
  json["titled_at_default"] = parameter.titled_at_default;
  json["setting"] = parameter.is_setting;
  return json;
}

Parameter parameter_from_json(const Json& json) {
  Parameter parameter;
  parameter.name = json.at("name").get<std::string>();
  parameter.type = type_from(json.at("type").get<std::string>());
  parameter.unit = json.at("unit").get<std::string>();
  parameter.documentation = json.at("documentation").get<std::string>();
  parameter.default_value = value_from(parameter.type, json.at("default"));
  if (json.contains("minimum")) parameter.minimum = json["minimum"].get<double>();
  if (json.contains("maximum")) parameter.maximum = json["maximum"].get<double>();
  if (json.contains("choices")) parameter.choices = json["choices"].get<std::vector<std::string>>();
  if (json.contains("axis")) parameter.axis = json["axis"].get<std::vector<std::string>>();
  parameter.title = json.at("title").get<std::string>();
  parameter.titled_at_default = json.at("titled_at_default").get<bool>();
  parameter.is_setting = json.at("setting").get<bool>();
  return parameter;
}

Json workload_to_json(const Workload& workload) {
  Json devices = Json::array();
  if (workload.runs_on_cpu) devices.push_back("cpu");
  if (workload.runs_on_cuda) devices.push_back("cuda");
  Json parameters = Json::array();
  for (const Parameter& parameter : workload.parameters) parameters.push_back(parameter_to_json(parameter));
  return {{"name", workload.name},
          {"documentation", workload.documentation},
          {"devices", devices},
          {"min_ranks", workload.min_ranks},
          {"max_ranks", workload.max_ranks},
          {"asynchronous_step", workload.asynchronous_step},
          {"title", workload.title},
          {"family", workload.family},
          {"family_order", workload.family_order},
          {"phases", workload.phases},
          {"parameters", parameters}};
}

Workload workload_from_json(const Json& json) {
  Workload workload;
  workload.name = json.at("name").get<std::string>();
  workload.documentation = json.at("documentation").get<std::string>();
  workload.runs_on_cpu = workload.runs_on_cuda = false;
  for (const Json& device : json.at("devices"))
    (device == "cuda" ? workload.runs_on_cuda : workload.runs_on_cpu) = true;
  workload.min_ranks = json.at("min_ranks").get<int>();
  workload.max_ranks = json.at("max_ranks").get<int>();
  workload.asynchronous_step = json.at("asynchronous_step").get<bool>();
  workload.title = json.at("title").get<std::string>();
  workload.family = json.at("family").get<std::string>();
  workload.family_order = json.at("family_order").get<int>();
  workload.phases = json.at("phases").get<std::vector<std::string>>();
  for (const Json& parameter : json.at("parameters")) workload.parameters.push_back(parameter_from_json(parameter));
  return workload;
}

}  // namespace

const char* to_string(ParameterType type) { return kTypes.name(type); }

Json to_json(const Plugin& plugin) {
  Json workloads = Json::array();
  for (const Workload& workload : plugin.workloads) workloads.push_back(workload_to_json(workload));
  const PluginFile& file = plugin.file;
  return {{"name", plugin.name},
          {"version", plugin.version},
          {"file", file.file.string()},
          {"sha256", file.sha256},
          {"libraries", file.libraries},
          {"abi_major", file.abi_major},
          {"abi_minor", file.abi_minor},
          {"framework", file.framework},
          {"framework_version", file.framework_version},
          {"cuda_version", file.cuda_version},
          {"compiler", file.compiler},
          {"cxx_abi", file.cxx_abi},
          {"workloads", workloads}};
}

Plugin plugin_from_json(const Json& json) {
  try {
    Plugin plugin;
    plugin.name = json.at("name").get<std::string>();
    plugin.version = json.at("version").get<std::string>();
    plugin.file.file = json.at("file").get<std::string>();
    plugin.file.sha256 = json.at("sha256").get<std::string>();
    plugin.file.libraries = json.at("libraries").get<std::map<std::string, std::string>>();
    plugin.file.abi_major = json.at("abi_major").get<int>();
    plugin.file.abi_minor = json.at("abi_minor").get<int>();
    plugin.file.framework = json.at("framework").get<std::string>();
    plugin.file.framework_version = json.at("framework_version").get<std::string>();
    plugin.file.cuda_version = json.at("cuda_version").get<std::string>();
    plugin.file.compiler = json.at("compiler").get<std::string>();
    plugin.file.cxx_abi = json.at("cxx_abi").get<std::string>();
    for (const Json& workload : json.at("workloads")) plugin.workloads.push_back(workload_from_json(workload));
    return plugin;
  } catch (const Json::exception& problem) {
    throw Error(std::string("a plugin's description has an invalid field: ") + problem.what());
  }
}

}  // namespace kymo::catalog
