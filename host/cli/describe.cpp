// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/run_options.hpp"
#include "plan/targets.hpp"
#include "terminal/print.hpp"

namespace kymo::cli {
namespace {

std::string range(const std::string& type, const std::optional<double>& low, const std::optional<double>& high) {
  if (low && high) return type + " from " + shortest_text(*low) + " to " + shortest_text(*high);
  if (low) return type + " >= " + shortest_text(*low);
  return type + (high ? " <= " + shortest_text(*high) : "");
}

/// What a parameter means, its unit, the accepted values and those of its default axis: "documentation [unit; values]".
std::string description(const catalog::Parameter& parameter) {
  std::vector<std::string> parts;
  if (!parameter.unit.empty()) parts.push_back(parameter.unit);
  parts.push_back(!parameter.choices.empty() ? join(parameter.choices, ", ")
                                             : range(to_string(parameter.type), parameter.minimum, parameter.maximum));
  if (!parameter.axis.empty()) parts.push_back("default axis: " + join(parameter.axis, ", "));
  return parameter.documentation + (parameter.documentation.empty() ? "[" : " [") + join(parts, "; ") + "]";
}

std::string ranks(const catalog::Workload& workload) {
  if (workload.max_ranks == 0) return std::to_string(workload.min_ranks) + " or more";
  if (workload.max_ranks == workload.min_ranks) return std::to_string(workload.min_ranks);
  return std::to_string(workload.min_ranks) + " to " + std::to_string(workload.max_ranks);
}

int print_as_json(const catalog::Found& found) {
  Json json = catalog::to_json(*found.plugin);
  Json kept = Json::array();
  for (const Json& workload : json.at("workloads")) {
    if (workload.at("name") == found.workload->name) kept.push_back(workload);
  }
  json["workloads"] = std::move(kept);
  print(json_text(json));
  return 0;
}

int describe(const std::string& word, const catalog::Options& options, bool as_json) {
  Targets targets(options);
  const catalog::Found found = targets.find(word);
  if (as_json) return print_as_json(found);
  const catalog::Workload& workload = *found.workload;
  const TextStyle style = output_style();
  std::string text = style.text(workload.name + ": " + visible(workload.documentation) + "\n\n");
  const auto line = [&](const char* name, const std::string& value) {
    text += wrapped(name, visible(value), style.columns);
  };
  line("plugin   ", found.plugin->name + " " + found.plugin->version + ", " + found.plugin->file.file.string());
  line("devices  ", workload.runs_on_cpu ? (workload.runs_on_cuda ? "cpu, cuda" : "cpu") : "cuda");
  line("ranks    ", ranks(workload));
  line("phases   ", workload.phases.empty() ? "none" : join(workload.phases, ", "));
  TextTable table{{"parameter", "default", "description"}, {}, {}};
  table.wraps = true;
  for (const catalog::Parameter& parameter : workload.parameters)
    table.rows.push_back({parameter.name, measure::to_text(parameter.default_value), description(parameter)});
  if (!table.rows.empty()) text += "\n" + table_text(table, style);
  print(text);
  return 0;
}

struct DescribeArguments {
  std::string workload;
  catalog::Options plugins;
  bool json = false;
};

}  // namespace

void add_describe(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<DescribeArguments>();
  CLI::App* command = app.add_subcommand("describe", "Show a workload and the defaults and bounds of its parameters");
  command->add_option("workload", arguments->workload, "workload name, FILE.so or FILE.so:NAME")
      ->required()
      ->type_name("WORKLOAD");
  command->add_flag("--json", arguments->json, "print JSON");
  add_plugin_options(*command, arguments->plugins);
  session.on(*command, [arguments] { return describe(arguments->workload, arguments->plugins, arguments->json); });
}

}  // namespace kymo::cli
