// SPDX-License-Identifier: Apache-2.0
// The commands that read stored runs: runs, show and log.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/run_options.hpp"
#include "cli/typed_option.hpp"
#include "plan/option_text.hpp"
#include "report/renderer.hpp"
#include "terminal/print.hpp"
#include "terminal/reading.hpp"
#include "terminal/results_table.hpp"
#include "terminal/run_details.hpp"
#include "terminal/run_results.hpp"
#include "terminal/step_times.hpp"
#include "terminal/unstarted.hpp"

namespace kymo::cli {
namespace {

using store::ResultsDatabase;

constexpr std::int64_t kMaxRuns = 1'000'000;
constexpr std::int64_t kNewestRuns = 20;
constexpr std::size_t kTailLines = 10;  // of each output in `show`

struct ShowArguments {
  std::optional<std::int64_t> run, rank, invocation, limit;
  std::string label, workload, status, pass;
  std::filesystem::path database = "kymo.db";
  bool wide = false, markdown = false, roofline = false, json = false;

  TextStyle style() const { return output_style(wide, markdown); }
};

std::int64_t run_to_show(const ResultsDatabase& database, const ShowArguments& arguments) {
  const std::string condition = arguments.run ? " WHERE run_id = " + std::to_string(*arguments.run) : "";
  const auto found =
      database.query("SELECT run_id FROM run" + condition + " ORDER BY started_at DESC, run_id DESC LIMIT 1");
  if (!found.rows.empty()) return found.rows[0].at(0).integer;
  if (!arguments.run) throw UsageError(quote(arguments.database.string()) + " contains no runs");
  throw UsageError(quote(arguments.database.string()) + " contains no run " + std::to_string(*arguments.run) +
                   "; 'kymo runs' lists its runs");
}

// runs

std::string matching_ids(const ResultsDatabase& database, const ShowArguments& arguments) {
  const auto found = database.query(
      "SELECT run_id FROM run WHERE (:label = '' OR label = :label) AND (:workload = '' OR workload = :workload) "
      "AND (:status = '' OR status = :status)" +
          (arguments.invocation ? " AND invocation_id = " + std::to_string(*arguments.invocation) : "") +
          " ORDER BY started_at DESC, run_id DESC LIMIT " +
          std::to_string(arguments.limit.value_or(arguments.invocation ? kMaxRuns : kNewestRuns)),
      {{"label", arguments.label}, {"workload", arguments.workload}, {"status", arguments.status}});
  std::vector<std::string> ids;
  for (const auto& row : found.rows) ids.push_back(std::to_string(row.at(0).integer));
  return join(ids, ", ");
}

int list_runs(const ShowArguments& arguments) {
  const auto database = open_results(arguments.database);
  const std::string ids = matching_ids(*database, arguments);
  Json runs = arguments.json ? results_of(*database, ids) : brief_results(*database, ids);
  // Newest first.
  std::reverse(runs.begin(), runs.end());
  std::stable_sort(runs.begin(), runs.end(),
                   [](const Json& left, const Json& right) { return left["started_at"] > right["started_at"]; });
  if (arguments.json) {
    print(json_text(runs));
    return 0;
  }
  const std::string unstarted =
      arguments.status.empty() ? unstarted_lines(*database, {arguments.invocation, arguments.label, arguments.workload})
                               : "";
  if (runs.empty()) {
    print("no matching runs\n" + arguments.style().text(unstarted));
    return 0;
  }
  std::vector<WorkloadSettings> settings;
  for (const Json& run : runs) settings.push_back(settings_of(run, {"ranks", "device", "timing", "sync", "warmup"}));
  const std::vector<std::string> texts = measure::differing(settings);
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i]["settings"] = texts[i];
  print(output_text("runs", {{"runs", dump_json(runs)}}, arguments.style()));
  print(arguments.style().text(unstarted));
  return 0;
}

// log

/// The output of each worker that printed something, by pass and rank.
Json output_of(const ResultsDatabase& database, std::int64_t run_id, const ShowArguments& arguments) {
  Json output = Json::array();
  for_rows(database,
           "SELECT rank, pass, status, stdout, stderr FROM rank WHERE run_id = " + std::to_string(run_id) +
               (arguments.rank ? " AND rank = " + std::to_string(*arguments.rank) : "") +
               " ORDER BY pass <> 'verify', pass <> 'time', pass, rank",
           [&](Json row) {
             if (arguments.pass.empty() || row["pass"] == arguments.pass) output.push_back(std::move(row));
           });
  return output;
}

/// The last lines of a text, each safe to print on a terminal.
std::string last_lines(const std::string& text, std::size_t most) {
  std::vector<std::string> lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  std::string shown;
  const std::size_t first = lines.size() > most ? lines.size() - most : 0;
  if (first > 0) shown = "... " + std::to_string(first) + " earlier lines: 'kymo log'\n";
  for (std::size_t i = first; i < lines.size(); ++i) shown += visible(lines[i]) + "\n";
  return shown;
}

std::string worker_output(const Json& output, std::size_t lines) {
  std::string text;
  for (const Json& worker : output) {
    for (const char* stream : {"stdout", "stderr"}) {
      if (worker[stream] == "") continue;
      text += "--- pass " + value_text(worker["pass"]) + ", rank " + worker["rank"].dump() + ", " + stream + "\n" +
              last_lines(worker[stream].get<std::string>(), lines);
    }
  }
  return text;
}

int log_of_run(const ShowArguments& arguments) {
  const auto database = open_results(arguments.database);
  const std::int64_t run_id = run_to_show(*database, arguments);
  const Json output = output_of(*database, run_id, arguments);
  if (arguments.json) {
    print(json_text({{"run_id", run_id}, {"output", output}}));
    return 0;
  }
  const std::string text = worker_output(output, static_cast<std::size_t>(-1));
  print(text.empty() ? "run " + std::to_string(run_id) + " has no output\n" : text);
  return 0;
}

// show

/// Where a failed run failed; null for a run that did not fail.
Json failure_of(const ResultsDatabase& database, std::int64_t run_id) {
  Json failure;
  for_rows(
      database,
      "SELECT status, detail, failed_pass AS pass, failed_phase AS stage, failed_rank AS rank, failed_step AS step, "
      "exit_code, signal FROM failures WHERE run_id = " +
          std::to_string(run_id),
      [&](Json row) { failure = std::move(row); });
  return failure;
}

int show_run(const ShowArguments& arguments) {
  const auto database = open_results(arguments.database);
  const std::int64_t run_id = run_to_show(*database, arguments);
  Json run = results_of(*database, std::to_string(run_id))[0];
  run["failure"] = failure_of(*database, run_id);
  run["output"] = output_of(*database, run_id, arguments);
  const auto details = [&](const char* name) { return observed(name, *database, run_id, arguments.database.string()); };
  if (arguments.json) {
    run.update(details("observed").json());
    if (arguments.roofline) run["roofline"] = details("roofline").json();
    print(json_text(run));
    return 0;
  }
  const TextStyle style = arguments.style();
  const Json runs = Json::array({run});
  const report::Output::Parameters parameters{{"runs", dump_json(runs)},
                                              {"failure", dump_json(run["failure"])},
                                              {"lines", dump_json(Json(warnings(runs, style.wide)))}};
  std::vector<std::string> parts{output_text("run_heading", parameters, style)};
  if (arguments.roofline) {
    parts.push_back(text_of(details("roofline").document(), style));
  } else {
    parts.push_back(output_text("show", parameters, style));
    parts.push_back(text_of(details("observed").document(), style));
    parts.push_back(style.text(worker_output(run["output"], kTailLines)));
    parts.push_back(style.text(unstarted_lines(*database, {run["invocation_id"].get<std::int64_t>(), "", ""})));
  }
  std::erase(parts, "");
  print(join(parts, "\n"));
  return 0;
}

void add_run_number(CLI::App& command, const std::shared_ptr<ShowArguments>& arguments) {
  typed_option(
      command, "run", arguments->run, "RUN", "number of the run [the newest run]", [](const std::string& text) {
        if (text.ends_with(".db"))
          throw UsageError(quote(text) + " is no number of a run; to read that database: --db " + shell_word(text));
        return whole_number("run", text, 1, kAnyNumber);
      });
}

}  // namespace

void add_show(CLI::App& app, Session& session) {
  const auto arguments = std::make_shared<ShowArguments>();
  const auto finish = [&](CLI::App& command, int (*action)(const ShowArguments&)) {
    command.add_flag("--json", arguments->json, "print JSON");
    add_database_option(command, arguments->database);
    session.on(command, [arguments, action] { return action(*arguments); });
  };

  CLI::App* runs = app.add_subcommand("runs", "List the runs of a database, newest first");
  runs->add_option("--label", arguments->label, "only runs with this label")->type_name("TEXT");
  runs->add_option("--workload", arguments->workload, "only runs of this workload")->type_name("NAME");
  runs->add_option("--status", arguments->status, "only runs with this status, such as crashed")->type_name("STATUS");
  number_option(*runs, "--invocation", arguments->invocation, 1, kAnyNumber, "only the runs of this invocation");
  number_option(*runs, "--limit", arguments->limit, 1, kMaxRuns, "maximum number of runs [20; of an invocation: all]");
  add_wide_option(*runs, arguments->wide);
  runs->add_flag("--markdown", arguments->markdown, "print the table in Markdown");
  finish(*runs, list_runs);

  CLI::App* show = app.add_subcommand(
      "show", "Show one run: times, warnings, top kernels and operators, memory, output and cause of failure");
  add_run_number(*show, arguments);
  add_wide_option(*show, arguments->wide);
  show->add_flag("--roofline", arguments->roofline,
                 "show how close operators and kernels come to the measured peaks, and why; needs a pass with "
                 "--trace-detail shapes and 'kymo peaks'");
  finish(*show, show_run);

  CLI::App* log = app.add_subcommand("log", "Print what the workers of a run printed, and the output of --wrap");
  add_run_number(*log, arguments);
  log->add_option("--pass", arguments->pass, "only this pass")->type_name("PASS");
  number_option(*log, "--rank", arguments->rank, 0, kMaxRanks, "only this rank");
  finish(*log, log_of_run);
}

}  // namespace kymo::cli
