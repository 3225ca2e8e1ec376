// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/reading.hpp"
#include "cli/run_options.hpp"
#include "cli/text_table.hpp"

namespace kymo::cli {
namespace {

struct SqlArguments {
  std::string query;
  std::filesystem::path database = "kymo.db";
  bool json = false;
  bool csv = false;
};

int sql(const SqlArguments& arguments) {
  print_query(*open_results(arguments.database), arguments.query,
              arguments.json  ? RowFormat::kJson
              : arguments.csv ? RowFormat::kCsv
                              : RowFormat::kText);
  return 0;
}

}  // namespace

void add_sql(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<SqlArguments>();
  CLI::App* command = app.add_subcommand("sql", "Run a read-only SELECT query against a results database");
  command->add_option("query", arguments->query, "SELECT statement")->required()->type_name("QUERY");
  CLI::Option* json = command->add_flag("--json", arguments->json, "print an array of objects");
  command->add_flag("--csv", arguments->csv, "print CSV")->excludes(json);
  add_database_option(*command, arguments->database);
  command->footer("Example: kymo sql \"SELECT workload, phase, mean_ms, std_ms FROM phase_time\"");
  command->callback([&session, arguments] { session.action = [arguments] { return sql(*arguments); }; });
}

}  // namespace kymo::cli
