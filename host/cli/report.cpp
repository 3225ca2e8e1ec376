// SPDX-License-Identifier: Apache-2.0
#include "report/report.hpp"

#include <CLI/CLI.hpp>
#include <limits>
#include <memory>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/compared_runs.hpp"
#include "cli/history.hpp"
#include "cli/report_files.hpp"
#include "cli/run_options.hpp"
#include "cli/typed_option.hpp"
#include "report/hand_in.hpp"
#include "terminal/print.hpp"
#include "terminal/reading.hpp"

namespace kymo::cli {
namespace {

struct ReportArguments {
  std::string name;
  report::Request request;
  std::vector<std::string> sides;
  std::filesystem::path database = "kymo.db";
  bool verbose = false;
};

std::vector<std::string> formats_from(const std::string& text) {
  std::vector<std::string> formats;
  for (const std::string& word : split(text, ',')) formats.push_back(trim(word));
  return formats;
}

std::vector<std::string> default_formats(const report::Request& request) {
  if (request.hand_in) return {"pdf"};
  return {"markdown", "html"};
}

/// A report that compares needs two sides, which replace the options that select runs; others accept none.
void check_sides(const ReportArguments& arguments, const report::ReportDefinition& definition) {
  const std::string& name = arguments.name;
  const auto& selection = arguments.request.selection;
  if ((definition.compares_runs || definition.shows_commits) &&
      (selection.label || selection.invocation_id || selection.suite))
    throw UsageError("the report " + quote(name) + " takes its runs from " +
                     (definition.compares_runs ? "both sides" : "all commits") +
                     ", not from --label, --invocation or --suite");
  if (!definition.compares_runs) {
    if (!arguments.sides.empty())
      throw UsageError("the report " + quote(name) + " shows one set of runs and takes no " +
                       quote(arguments.sides[0]) + "; select runs with --label or --invocation");
    return;
  }
  if (arguments.sides.size() != 2)
    throw UsageError("the report " + quote(name) +
                     " compares two sets of runs: pass two labels or invocations, as in 'kymo report " + name +
                     " before after'");
}

int make_report(const ReportArguments& arguments) {
  if (arguments.name.empty()) {
    TextTable table{{"report", "title"}, {}, {}};
    table.wraps = true;
    for (const std::string& name : report::list_reports())
      table.rows.push_back({name, report::find_report(name).title});
    print(table_text(table, output_style()));
    return 0;
  }
  report::Request request = arguments.request;
  if (arguments.verbose) log::set_level(log::Level::kDebug);
  const report::ReportDefinition definition = report::find_report(arguments.name);
  check_sides(arguments, definition);
  if (request.formats.empty()) request.formats = default_formats(request);
  const auto database = open_results(arguments.database);
  if (!arguments.sides.empty()) request.comparison = compared_runs(*database, arguments.sides[0], arguments.sides[1]);
  if (definition.shows_commits) request.history = history_here(*database, {});
  request.files_of = ReportFiles(*database);
  for (const auto& file : report::make_report(*database, definition, request)) print(visible(file.string()) + "\n");
  return 0;
}

}  // namespace

void add_report(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<ReportArguments>();
  report::Request& request = arguments->request;
  request.out_folder = "report";
  CLI::App* command = app.add_subcommand("report", "Generate a report from a results database");
  command->add_option("report", arguments->name, "name, or a folder with report.toml; if omitted, list the names")
      ->type_name("REPORT");
  command
      ->add_option("sides", arguments->sides,
                   "for reports that compare: two labels or invocation numbers, before and after")
      ->type_name("BEFORE AFTER")
      ->expected(0, 2);
  command->add_option("--out", request.out_folder, "output folder")
      ->type_name("FOLDER")
      ->capture_default_str()
      ->check(error_if_empty);
  typed_option(
      *command, "--format", arguments->request.formats, "LIST",
      "formats to write: any of " + join(report::known_formats(), ", ") + " [markdown,html; with --hand-in pdf]",
      formats_from);
  command->add_flag("--hand-in", request.hand_in,
                    "without the appendix, and of each section one figure and at most " +
                        std::to_string(report::kHandInRows) + " rows; CSV files have all rows");
  command->add_option("--label", request.selection.label, "only runs with this label")->type_name("TEXT");
  number_option(*command, "--invocation", arguments->request.selection.invocation_id, 1, kAnyNumber,
                "only the runs of this invocation");
  command->add_option("--suite", request.selection.suite, "only runs of this suite")->type_name("NAME");
  number_option(
      *command, "--max-runs", arguments->request.most_runs, 1, kAnyNumber,
      "most runs that an included report shows, the newest of each case [" + std::to_string(request.most_runs) + "]");
  add_database_option(*command, arguments->database);
  command->add_flag("--verbose", arguments->verbose, "print the time of each query");
  command->footer(
      "Example: kymo report quick --format markdown,latex,typst,html --out out\nExample: kymo report compare before "
      "after");
  session.on(*command, [arguments] { return make_report(*arguments); });
}

}  // namespace kymo::cli
