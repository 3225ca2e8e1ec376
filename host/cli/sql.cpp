// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/run_options.hpp"
#include "cli/typed_option.hpp"
#include "terminal/print.hpp"
#include "terminal/reading.hpp"

namespace kymo::cli {
namespace {

/// Ends the process: comparing or replacing long texts in one call of a function takes hours. The database is only
/// read.
void give_up(double seconds) {
  std::fprintf(stderr, "kymo: the statement was stopped after its limit of %s s, in a call of a function\n",
               shortest_text(seconds).c_str());
  std::_Exit(static_cast<int>(ExitCode::kToolError));
}

/// A statement may compute a larger value than kymo stores, such as an aggregate of many rows.
store::Limits limits_of_statements() {
  store::Limits limits = kQueryLimits;
  limits.value_bytes = 16 << 20;
  limits.give_up = give_up;
  return limits;
}

struct SqlArguments {
  std::string query;
  std::filesystem::path database = "kymo.db";
  store::Limits limits = limits_of_statements();
  bool json = false;
  bool csv = false;
  bool raw = false;
  bool wide = false;
};

int sql(const SqlArguments& arguments) {
  const auto database = open_results(arguments.database);
  database->set_limits(arguments.limits);
  print_query(*database, arguments.query,
              arguments.json  ? RowFormat::kJson
              : arguments.csv ? RowFormat::kCsv
              : arguments.raw ? RowFormat::kRawText
                              : RowFormat::kText,
              arguments.wide ? kAnyWidth : output_columns());
  return 0;
}

}  // namespace

void add_sql(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<SqlArguments>();
  CLI::App* command = app.add_subcommand("sql", "Run a read-only SELECT query against a results database");
  command->add_option("query", arguments->query, "SELECT statement")->required()->type_name("QUERY");
  CLI::Option* json = command->add_flag("--json", arguments->json, "print an array of objects");
  CLI::Option* csv = command->add_flag("--csv", arguments->csv, "print CSV")->excludes(json);
  command->add_flag("--raw", arguments->raw, "print numbers in the table in full instead of with six digits")
      ->excludes(json)
      ->excludes(csv);
  command->add_flag("--wide", arguments->wide, "print a table also where a list of values per row fits the width");
  seconds_option(*command, "--timeout", arguments->limits.seconds, 0.001, 1e9, "stop the query after this time [600]");
  typed_option(*command, "--memory", arguments->limits.memory_bytes, "SIZE",
               "stop the query if SQLite needs more memory [4Gi]", size_bytes);
  add_database_option(*command, arguments->database);
  command->footer(
      "Besides SQLite's functions, median(x), percentile(x, p) with p from 0 to 100, and stddev(x) are available, and\n"
      "ratio_text(ratio), ratio_text(low, high) and ratio_interval(ratio, low, high), which state a ratio of times as\n"
      "'5.1 % faster' or '1.97 times as long'.\n"
      "Example: kymo sql \"SELECT workload, phase, median(median_ms), stddev(median_ms) FROM phase_time GROUP BY 1, "
      "2\"");
  session.on(*command, [arguments] { return sql(*arguments); });
}

}  // namespace kymo::cli
