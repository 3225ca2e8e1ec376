// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "catalog/catalog.hpp"
#include "cli/commands.hpp"
#include "cli/run_options.hpp"
#include "terminal/print.hpp"

namespace kymo::cli {
namespace {

std::string devices(const catalog::Workload& workload) {
  return workload.runs_on_cpu ? (workload.runs_on_cuda ? "cpu, cuda" : "cpu") : "cuda";
}

int print_as_json(const catalog::Catalog& found) {
  Json json{{"plugins", Json::array()}, {"rejected", Json::array()}};
  for (const catalog::Plugin& plugin : found.plugins) json["plugins"].push_back(catalog::to_json(plugin));
  for (const catalog::Rejected& rejected : found.rejected)
    json["rejected"].push_back({{"file", rejected.file.string()}, {"reason", rejected.reason}});
  print(json_text(json));
  return 0;
}

int list(const catalog::Options& options, bool wide, bool as_json) {
  const catalog::Catalog found = catalog::discover(options);
  if (as_json) return print_as_json(found);
  std::error_code ignored;  // a missing folder contains no plugin
  const std::filesystem::path installed = std::filesystem::weakly_canonical(options.installed, ignored);
  TextTable table{{"workload", "plugin", "devices", "description"}, {}, {}, {0, 2, 1, 0}};
  for (const catalog::Plugin& plugin : found.plugins) {
    const bool is_installed = plugin.file.file.parent_path() == installed;
    for (const catalog::Workload& workload : plugin.workloads)
      table.rows.push_back({workload.name, plugin.name + " " + plugin.version, devices(workload),
                            workload.documentation + (is_installed ? "" : " [" + plugin.file.file.string() + "]")});
  }
  table.wraps = true;
  print(table_text(table, output_style(wide)));
  for (const catalog::Rejected& rejected : found.rejected) {
    std::fprintf(stderr, "kymo: plugin %s: %s: %s\n", rejected.may_be_usable ? "not described" : "rejected",
                 visible(rejected.file.string()).c_str(), visible(rejected.reason).c_str());
  }
  return 0;
}

struct ListArguments {
  catalog::Options plugins;
  bool wide = false, json = false;
};

}  // namespace

void add_list(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<ListArguments>();
  CLI::App* command = app.add_subcommand("list", "List the workloads of all plugins");
  add_table_options(*command, arguments->wide, arguments->json);
  add_plugin_options(*command, arguments->plugins);
  session.on(*command, [arguments] { return list(arguments->plugins, arguments->wide, arguments->json); });
}

}  // namespace kymo::cli
