// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/run_options.hpp"
#include "cli/targets.hpp"
#include "cli/text_table.hpp"

namespace kymo::cli {
namespace {

/// The accepted values of a parameter: its choices or its bounds.
std::string admitted(const catalog::Parameter& parameter) {
  if (!parameter.choices.empty()) return join(parameter.choices, "|");
  if (parameter.minimum && parameter.maximum)
    return shortest_text(*parameter.minimum) + " to " + shortest_text(*parameter.maximum);
  if (parameter.minimum) return ">= " + shortest_text(*parameter.minimum);
  if (parameter.maximum) return "<= " + shortest_text(*parameter.maximum);
  return "";
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
  std::string text = workload.name + ": " + visible(workload.documentation) + "\n\n";
  const auto line = [&](const char* name, const std::string& value) {
    text += std::string(name) + visible(value) + "\n";
  };
  line("plugin   ", found.plugin->name + " " + found.plugin->version + ", " + found.plugin->file.file.string());
  line("devices  ", workload.runs_on_cpu ? (workload.runs_on_cuda ? "cpu, cuda" : "cpu") : "cuda");
  line("ranks    ", ranks(workload));
  line("phases   ", workload.phases.empty() ? "none" : join(workload.phases, ", "));
  TextTable table{{"parameter", "type", "default", "unit", "allowed", "default axis", "description"}, {}, {}};
  for (const catalog::Parameter& parameter : workload.parameters) {
    table.rows.push_back({parameter.name, to_string(parameter.type), measure::to_text(parameter.default_value),
                          parameter.unit, admitted(parameter), join(parameter.axis, ","), parameter.documentation});
  }
  if (!table.rows.empty()) text += "\n" + render(table, false);
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
