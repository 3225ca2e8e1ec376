// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/compared_runs.hpp"
#include "cli/run_options.hpp"
#include "cli/typed_option.hpp"
#include "measure/comparison.hpp"
#include "plan/option_text.hpp"
#include "report/renderer.hpp"
#include "terminal/comparison_table.hpp"
#include "terminal/print.hpp"
#include "terminal/reading.hpp"
#include "terminal/run_results.hpp"
#include "terminal/step_times.hpp"

namespace kymo::cli {
namespace {

using store::ResultsDatabase;

struct CompareArguments {
  std::string before, after;
  std::string phase = "step";
  double margin = measure::kDefaultMargin;
  std::filesystem::path database = "kymo.db";
  bool fail_on_slower = false;
  bool wide = false, markdown = false, json = false;
};

bool is_file(const std::string& side) { return side.ends_with(".db") || side.find('/') != side.npos; }

bool is_number(const std::string& side) {
  return !side.empty() && side.size() <= 18 &&
         std::ranges::all_of(side, [](unsigned char c) { return std::isdigit(c); });
}

/// Ids of the finished runs that match `condition` on run r; the label or number is bound to :side.
std::vector<std::string> ids_where(const ResultsDatabase& database, const std::string& condition,
                                   const std::string& side) {
  static constexpr std::size_t kMostRuns = 100'000;  // which take more than a GiB
  std::vector<std::string> ids;
  const auto table = database.query(
      "SELECT r.run_id FROM run r WHERE r.status NOT IN ('skipped', 'running') AND " + condition, {{"side", side}});
  if (table.rows.size() > kMostRuns)
    throw UsageError(quote(side) + " has " + std::to_string(table.rows.size()) + " finished runs; at most " +
                     std::to_string(kMostRuns) + " can be compared: name an invocation, or label fewer runs");
  for (const auto& row : table.rows) ids.push_back(std::to_string(row.at(0).integer));
  return ids;
}

/// Data that decides whether runs are comparable, in addition to that from brief_results().
constexpr const char* kFacts = R"(
  SELECT r.run_id, p.sha256 AS build, r.started_at AS began, clock.sm_clock_mhz,
         NULL AS loop_ns, NULL AS fastest_loop_ns,
         coalesce((SELECT group_concat(name, ' + ')
                   FROM (SELECT DISTINCT d.name FROM rank k JOIN device d ON d.device_id = k.device_id
                         WHERE k.run_id = r.run_id AND k.pass = 'time' ORDER BY d.name)), '') AS machine,
         r.invocation_id || ' ' || coalesce((SELECT min(k.host || ' ' || k.pid) FROM rank k
                                             WHERE k.run_id = r.run_id AND k.pass = 'time'), '') AS process
  FROM run r
  JOIN plugin p ON p.plugin_id = r.plugin_id
  LEFT JOIN device_clock clock ON clock.run_id = r.run_id
  WHERE r.run_id IN ()";

SideRuns runs_with(const ResultsDatabase& database, const std::vector<std::string>& ids) {
  const std::string list = join(ids, ", ");
  std::map<std::int64_t, Json> facts;
  for_rows(database, kFacts + list + ")", [&](Json row) {
    const auto id = integer_at(row, "run_id");
    facts[id] = std::move(row);
  });
  // A condition on the runs alone keeps SQLite from reading the loops of all others.
  for_rows(
      database,
      "SELECT run_id, loop_ns, fastest_ns AS fastest_loop_ns FROM reference_loop_time WHERE run_id IN (" + list + ")",
      [&](const Json& row) { facts[integer_at(row, "run_id")].update(row); });
  SideRuns runs = brief_results(database, list, "TRUE");
  for (Json& run : runs) run.update(facts[integer_at(run, "run_id")]);
  return runs;
}

[[noreturn]] void reject(const ResultsDatabase& database, const std::string& side) {
  std::vector<std::string> labels;
  for (const auto& row : database.query("SELECT DISTINCT label FROM run WHERE label <> '' ORDER BY label").rows)
    labels.push_back(row.at(0).text);
  throw UsageError(
      "no run of " + quote(database.file().string()) + " has the label " + quote(side) +
      (is_number(side) ? " or is of that invocation" : "") +
      (labels.empty() ? "; no run has a label; set one with 'kymo run --label'" : suggestion(side, labels)));
}

/// Returns the runs with the label; otherwise the runs of the invocation with that number.
SideRuns selected_side(const ResultsDatabase& database, const std::string& side) {
  std::vector<std::string> ids = ids_where(database, "r.label = :side", side);
  if (ids.empty() && is_number(side)) ids = ids_where(database, "r.invocation_id = CAST(:side AS INTEGER)", side);
  if (ids.empty()) reject(database, side);
  return runs_with(database, ids);
}

bool is_label(const ResultsDatabase& database, const std::string& side) {
  return !database.query("SELECT 1 FROM run WHERE label = :side LIMIT 1", {{"side", side}}).rows.empty();
}

/// 'kymo ab' labels runs with the candidate, which may be a path. A damaged or missing database has no labels.
bool is_label_in(const std::filesystem::path& file, const std::string& side) {
  try {
    if (is_missing(file)) return false;
    ResultsDatabase database(file, ResultsDatabase::Mode::kReadOnly);
    database.set_limits(kQueryLimits);
    return is_label(database, side);
  } catch (const Error&) {
    return false;
  }
}

SideRuns side_from(const std::string& side, const std::filesystem::path& file) {
  if (!is_file(side) || is_label_in(file, side)) return selected_side(*open_results(file), side);
  const auto database = open_results(side);
  const std::vector<std::string> ids = ids_where(*database, "TRUE", side);
  if (ids.empty()) throw UsageError("no finished run in " + quote(side));
  return runs_with(*database, ids);
}

void require_different(const std::string& before, const std::string& after) {
  if (before == after) throw UsageError("both sides are " + quote(before) + "; specify two different ones");
}

std::optional<double> optional_number(const Json& value, double scale = 1) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>() * scale);
}

int compare(const CompareArguments& arguments) {
  require_different(arguments.before, arguments.after);
  const SideRuns before = side_from(arguments.before, arguments.database);
  const SideRuns after = side_from(arguments.after, arguments.database);
  const Json rows = comparison_rows(before, after, arguments.phase, arguments.margin);
  const std::string text = arguments.json
                               ? json_text({{"phase", arguments.phase}, {"margin", arguments.margin}, {"cases", rows}})
                               : text_of(comparison_document(rows), output_style(arguments.wide, arguments.markdown));
  print(text);
  std::fflush(stdout);
  if (!arguments.json)
    for (const std::string& note : comparison_notes(rows)) log::warning(note);
  const bool slower = std::ranges::any_of(rows, [](const Json& row) { return row["verdict"] == "SLOWER"; });
  return static_cast<int>(arguments.fail_on_slower && slower ? ExitCode::kRunFailed : ExitCode::kOk);
}

}  // namespace

report::ComparedRuns compared_runs(const ResultsDatabase& database, const std::string& before,
                                   const std::string& after) {
  require_different(before, after);
  for (const std::string& side : {before, after})
    if (is_file(side) && !is_label(database, side))
      throw UsageError("a report compares labels or invocations of one database, not the file " + quote(side) +
                       "; combine both databases with 'kymo merge' first");
  const Json rows =
      comparison_rows(selected_side(database, before), selected_side(database, after), "step", measure::kDefaultMargin);
  const std::vector<std::string> titles = comparison_titles(rows);
  report::ComparedRuns result{before, after, {}};
  constexpr double kMsPerNs = 1e-6;
  bool any = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json& row = rows[i];
    const Json &first = row["before"], &second = row["after"];
    any = any || (!first["time_ns"].is_null() && !second["time_ns"].is_null());
    report::ComparedCase& each = result.cases.emplace_back();
    each.title = titles[i];
    each.before = first["run_ids"].get<std::vector<std::int64_t>>();
    each.after = second["run_ids"].get<std::vector<std::int64_t>>();
    each.statistic = text_at(row, "statistic");
    each.before_ms = optional_number(first["time_ns"], kMsPerNs);
    each.after_ms = optional_number(second["time_ns"], kMsPerNs);
    each.ratio = optional_number(row["ratio"]);
    each.ratio_low = optional_number(row["ratio_low"]);
    each.ratio_high = optional_number(row["ratio_high"]);
    each.verdict = verdict_text(row);
    if (row["by_other"].is_null() && text_at(first, "unlike_steps").empty() && text_at(second, "unlike_steps").empty())
      continue;
    const char* const other = member_of(other_than(statistic_of(row)));
    each.before_other_ms = optional_number(first[other], kMsPerNs);
    each.after_other_ms = optional_number(second[other], kMsPerNs);
    each.before_unlike_steps = text_at(first, "unlike_steps");
    each.after_unlike_steps = text_at(second, "unlike_steps");
  }
  if (!any) throw UsageError(comparison_notes(rows).back());
  return result;
}

void add_compare(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command = app.add_subcommand("compare", "Compare two sets of runs and test whether their times differ");
  const char* const side = "label or invocation number in --db, or another database FILE.db";
  command->add_option("before", arguments->before, side)->required()->type_name("SIDE");
  command->add_option("after", arguments->after, "second set of runs, in the same form")->required()->type_name("SIDE");
  command->add_option("--phase", arguments->phase, "phase to compare")->type_name("NAME")->capture_default_str();
  typed_option(*command, "--margin", arguments->margin, "REL",
               "largest relative difference treated as no difference [1%]", relative_error);
  command->add_flag("--fail-on-slower", arguments->fail_on_slower, "exit with 3 if a case is SLOWER");
  add_table_options(*command, arguments->wide, arguments->markdown, arguments->json);
  add_database_option(*command, arguments->database);
  command->footer(
      "A verdict needs 5 runs on each side: run 'kymo run W --repeat 5 --fresh --label before', or 'kymo trace "
      "--repeat 5 "
      "--label before -- python train.py', then repeat it with another label after the change.\nA label of --db comes "
      "before a file of the same name; ./FILE.db is the file.\nExample: kymo compare before after");
  session.on(*command, [arguments] { return compare(*arguments); });
}

}  // namespace kymo::cli
