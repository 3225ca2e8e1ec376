// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "catalog/catalog.hpp"

namespace kymo::plan {

/// A workload with one parameter of each type, as described by a plugin.
inline catalog::Plugin sample_plugin() {
  using catalog::ParameterType;
  catalog::Workload workload;
  workload.name = "sample";
  workload.runs_on_cuda = true;
  workload.max_ranks = 4;
  const auto add = [&](const char* name, ParameterType type, measure::Value value) {
    catalog::Parameter parameter;
    parameter.name = name;
    parameter.type = type;
    parameter.default_value = std::move(value);
    workload.parameters.push_back(parameter);
    return &workload.parameters.back();
  };
  auto* n = add("n", ParameterType::kInt, std::int64_t{8});
  n->minimum = 1;
  n->maximum = 1 << 20;
  n->axis = {"16", "32"};
  add("rate", ParameterType::kReal, 0.5);
  add("causal", ParameterType::kBool, false);
  add("note", ParameterType::kText, std::string("plain"));
  add("dtype", ParameterType::kChoice, std::string("fp32"))->choices = {"fp32", "bf16"};
  catalog::Plugin plugin;
  plugin.name = "sample";
  plugin.file.file = "/plugins/sample.so";
  plugin.file.sha256 = "abc";
  plugin.workloads = {workload};
  return plugin;
}

}  // namespace kymo::plan
