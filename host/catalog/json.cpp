// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "catalog/catalog.hpp"

namespace kymo::catalog {
namespace {

using measure::read_fields;
using measure::write_fields;

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

// The fields that are the same in C++ and in JSON, in the order of the output.
auto identity_of(auto& parameter) {
  return std::forward_as_tuple("name", parameter.name, "type", parameter.type, "unit", parameter.unit, "documentation",
                               parameter.documentation);
}
auto titles_of(auto& parameter) {
  return std::forward_as_tuple("title", parameter.title, "titled_at_default", parameter.titled_at_default, "setting",
                               parameter.is_setting);
}
auto identity_of_workload(auto& workload) {
  return std::forward_as_tuple("name", workload.name, "documentation", workload.documentation);
}
auto properties_of(auto& workload) {
  return std::forward_as_tuple("min_ranks", workload.min_ranks, "max_ranks", workload.max_ranks, "asynchronous_step",
                               workload.asynchronous_step, "title", workload.title, "family", workload.family,
                               "family_order", workload.family_order, "phases", workload.phases);
}
auto fields_of(auto& plugin) {
  auto& file = plugin.file;
  return std::forward_as_tuple("name", plugin.name, "version", plugin.version, "file", file.file, "sha256", file.sha256,
                               "interpreter", file.interpreter, "torch", file.torch, "libraries", file.libraries,
                               "abi_major", file.abi_major, "abi_minor", file.abi_minor, "framework", file.framework,
                               "framework_version", file.framework_version, "cuda_version", file.cuda_version,
                               "compiler", file.compiler, "cxx_abi", file.cxx_abi);
}

Json parameter_to_json(const Parameter& parameter) {
  Json json;
  write_fields(json, identity_of(parameter));
  json["default"] = parameter.default_value;
  if (parameter.minimum) json["minimum"] = *parameter.minimum;
  if (parameter.maximum) json["maximum"] = *parameter.maximum;
  if (!parameter.choices.empty()) json["choices"] = parameter.choices;
  if (!parameter.axis.empty()) json["axis"] = parameter.axis;
  write_fields(json, titles_of(parameter));
  return json;
}

Parameter parameter_from_json(const Json& json) {
  Parameter parameter;
  read_fields(json, identity_of(parameter));
  parameter.default_value = value_from(parameter.type, json.at("default"));
  if (json.contains("minimum")) parameter.minimum = json["minimum"].get<double>();
  if (json.contains("maximum")) parameter.maximum = json["maximum"].get<double>();
  if (json.contains("choices")) parameter.choices = json["choices"].get<std::vector<std::string>>();
  if (json.contains("axis")) parameter.axis = json["axis"].get<std::vector<std::string>>();
  read_fields(json, titles_of(parameter));
  return parameter;
}

Json workload_to_json(const Workload& workload) {
  Json json;
  write_fields(json, identity_of_workload(workload));
  Json& devices = json["devices"] = Json::array();
  if (workload.runs_on_cpu) devices.push_back("cpu");
  if (workload.runs_on_cuda) devices.push_back("cuda");
  write_fields(json, properties_of(workload));
  Json& parameters = json["parameters"] = Json::array();
  for (const Parameter& parameter : workload.parameters) parameters.push_back(parameter_to_json(parameter));
  return json;
}

Workload workload_from_json(const Json& json) {
  Workload workload;
  read_fields(json, identity_of_workload(workload));
  workload.runs_on_cpu = workload.runs_on_cuda = false;
  for (const Json& device : json.at("devices"))
    (device == "cuda" ? workload.runs_on_cuda : workload.runs_on_cpu) = true;
  read_fields(json, properties_of(workload));
  for (const Json& parameter : json.at("parameters")) workload.parameters.push_back(parameter_from_json(parameter));
  return workload;
}

}  // namespace

Json to_json(const Plugin& plugin) {
  Json json;
  write_fields(json, fields_of(plugin));
  Json& workloads = json["workloads"] = Json::array();
  for (const Workload& workload : plugin.workloads) workloads.push_back(workload_to_json(workload));
  return json;
}

Plugin plugin_from_json(const Json& json) {
  try {
    Plugin plugin;
    read_fields(json, fields_of(plugin));
    for (const Json& workload : json.at("workloads")) plugin.workloads.push_back(workload_from_json(workload));
    return plugin;
  } catch (const std::exception& problem) {
    throw Error(std::string("a plugin's description has an invalid field: ") + problem.what());
  }
}

}  // namespace kymo::catalog
