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
#include "cli/fit_table.hpp"
#include "cli/option_text.hpp"
#include "cli/reading.hpp"
#include "cli/results_table.hpp"
#include "cli/run_details.hpp"
#include "cli/run_options.hpp"
#include "cli/run_results.hpp"
#include "cli/run_roofline.hpp"
#include "cli/step_times.hpp"
#include "cli/typed_option.hpp"

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

  TableStyle style() const { return output_style(wide, markdown); }
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

TextTable runs_table(const Json& runs) {
  std::vector<WorkloadSettings> settings;
  for (const Json& run : runs) settings.push_back(settings_of(run, {"ranks", "device", "timing", "sync", "warmup"}));
  const std::vector<std::string> parameters = measure::differing(settings);
  TableBuilder builder(runs.size());
  const auto member = [&](const char* name) {
    return [&runs, name](std::size_t row) { return value_text(runs[row][name]); };
  };
  builder.add("run", true, 0, member("run_id"));
  builder.add("started (UTC)", true, 3,
              [&](std::size_t row) { return value_text(runs[row]["started_at"]).substr(0, 19); });
  builder.add("label", false, 0, member("label"));
  builder.add("case", false, 2, member("suite_case"));
  builder.add("workload", false, 1, member("workload"));
  builder.add("parameters", false, 0, [&](std::size_t row) { return parameters[row]; });
  // Each run has the time that represents it.
  const auto has = [&](const Json& run, StepStatistic statistic) {
    return run["phases"].contains("step") && statistic_of(run["phases"]["step"]) == statistic;
  };
  for (const StepStatistic statistic : {StepStatistic::kMedian, StepStatistic::kMean}) {
    const bool any = std::ranges::any_of(runs, [&](const Json& run) { return has(run, statistic); });
    const bool none = statistic == StepStatistic::kMedian &&
                      std::ranges::none_of(runs, [&](const Json& run) { return has(run, StepStatistic::kMean); });
    if (!any && !none) continue;
    builder.add(std::string(measure::to_string(statistic)) + " step", true, 0,
                [&runs, has, statistic](std::size_t row) {
                  return has(runs[row], statistic) ? time_text(runs[row]["phases"]["step"], statistic) : "";
                });
  }
  builder.add("status", false, 0, member("status"));
  return builder.table();
}

int list_runs(const ShowArguments& arguments) {
  const auto database = open_results(arguments.database);
  Json runs = results_of(*database, matching_ids(*database, arguments));
  // Newest first.
  std::reverse(runs.begin(), runs.end());
  std::stable_sort(runs.begin(), runs.end(),
                   [](const Json& left, const Json& right) { return left["started_at"] > right["started_at"]; });
  if (arguments.json) {
    print(json_text(runs));
    return 0;
  }
  print(runs.empty() ? "no matching runs\n" : table_text(runs_table(runs), arguments.style()));
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

std::string output_text(const Json& output, std::size_t lines) {
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
  const std::string text = output_text(output, static_cast<std::size_t>(-1));
  print(text.empty() ? "run " + std::to_string(run_id) + " has no output\n" : text);
  return 0;
}

// show

/// Where a failed run failed; null for a run that did not fail.
Json failure_of(const ResultsDatabase& database, std::int64_t run_id) {
  Json failure;
  for_rows(
      database,
      "SELECT status, detail, failed_pass AS pass, failed_rank AS rank, failed_phase AS stage, failed_step AS step, "
      "exit_code, signal FROM failures WHERE run_id = " +
          std::to_string(run_id),
      [&](Json row) { failure = std::move(row); });
  return failure;
}

std::string failure_text(const Json& failure) {
  if (failure.is_null()) return "";
  std::vector<std::string> parts;
  for (const char* name : {"pass", "stage", "rank", "step", "exit_code", "signal"})
    if (!failure[name].is_null() && failure[name] != "")
      parts.push_back((name == std::string("exit_code") ? "exit code" : name) + (" " + value_text(failure[name])));
  return value_text(failure["status"]) + ": " + visible(value_text(failure["detail"])) + "\n" +
         (parts.empty() ? "" : "failed in " + visible(join(parts, ", ")) + "\n");
}

/// Why a skipped run was skipped, which is no failure.
std::string skip_text(const Json& run) {
  return run["status"] == "skipped" ? "skipped: " + visible(value_text(run["detail"])) + "\n" : "";
}

std::string count_text(const Json& run, const char* name, const std::string& what) {
  const auto count = run[name].get<std::int64_t>();
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string heading(const Json& run) {
  std::string text = "run " + run["run_id"].dump() + ": " + visible(value_text(run["workload"])) + ", " +
                     value_text(run["status"]) + "\n";
  std::vector<std::string> parameters;
  for (const auto& [name, value] : run["parameters"].items()) parameters.push_back(name + "=" + value_text(value));
  if (!parameters.empty()) text += "parameters: " + visible(join(parameters, " ")) + "\n";
  for (const char* name : {"label", "suite", "suite_case"})
    if (run[name] != "")
      text +=
          std::string(name == std::string("suite_case") ? "case" : name) + ": " + visible(value_text(run[name])) + "\n";
  const bool fixed = run["steps"] != 0;
  return text + "method: " + value_text(run["device"]) + ", " + count_text(run, "ranks", "rank") + ", timing " +
         value_text(run["timing"]) + ", " + count_text(run, "warmup", "warm-up step") +
         (fixed ? (run["timing"] == "free" ? ", up to " : ", ") + count_text(run, "steps", "measured step") : "") +
         ", passes " + value_text(run["passes"]) + "\nstarted: " + value_text(run["started_at"]) + ", invocation " +
         run["invocation_id"].dump() + "\nplugin: " + visible(value_text(run["plugin_file"])) + " (" +
         value_text(run["plugin_sha256"]).substr(0, 8) + ")\n\n";
}

/// Of a collective.
std::string bandwidth_text(const Json& phase, const char* name) {
  return phase.contains(name) ? rate_text(1e9 * phase[name].get<double>(), "B/s") : "";
}

std::string phases_text(const Json& run, const TableStyle& style) {
  std::vector<std::pair<std::string, Json>> phases;
  for (const auto& [name, time] : run["phases"].items()) phases.emplace_back(name, time);
  if (phases.empty()) return "";
  TableBuilder builder(phases.size());
  const auto duration = [&](const char* name) {
    return [&phases, name](std::size_t row) {
      const Json& value = phases[row].second[name];
      return value.is_null() ? "" : format_duration(value.get<double>());
    };
  };
  const auto rate = [&](const char* name) {
    return [&phases, name](std::size_t row) {
      const Json& phase = phases[row].second;
      return phase.contains(name) ? rate_text(phase[name].get<double>()) : "";
    };
  };
  builder.add("phase", false, 0, [&](std::size_t row) { return phases[row].first; });
  builder.add("clock", false, 2, [&](std::size_t row) { return value_text(phases[row].second["clock"]); });
  builder.add("samples", true, 1, [&](std::size_t row) { return phases[row].second["count"].dump(); });
  // The statistic that represents the run comes first, with its interval.
  const StepStatistic statistic = statistic_of(phases.front().second);
  const StepStatistic other = other_than(statistic);
  builder.add(to_string(statistic), true, 0, [&](std::size_t row) { return time_text(phases[row].second, statistic); });
  builder.add(to_string(other), true, 0, duration(member_of(other)));
  builder.add("std", true, 0, duration("std_ns"));
  builder.add("min", true, 1, duration("min_ns"));
  builder.add("max", true, 1, duration("max_ns"));
  const bool per_rank = has_several_ranks(run);
  builder.add(rate_title("FLOP/s", per_rank), true, 3, rate("flops_per_s"));
  builder.add(rate_title("B/s", per_rank), true, 3, rate("bytes_per_s"));
  for (const char* name : {"algbw", "busbw"})
    builder.add(name, true, 0, [&phases, key = std::string(name) + "_gb_s"](std::size_t row) {
      return bandwidth_text(phases[row].second, key.c_str());
    });
  return table_text(builder.table(), style) + "\n";
}

std::string metrics_text(const Json& run) {
  std::vector<std::string> parts;
  for (const auto& [name, metric] : run["metrics"].items()) parts.push_back(name + " " + metric_text(metric));
  return parts.empty() ? "" : "metrics: " + visible(join(parts, ", ")) + "\n";
}

int show_run(const ShowArguments& arguments) {
  const auto database = open_results(arguments.database);
  const std::int64_t run_id = run_to_show(*database, arguments);
  Json run = results_of(*database, std::to_string(run_id))[0];
  run["failure"] = failure_of(*database, run_id);
  run["output"] = output_of(*database, run_id, arguments);
  const Json details = observed_details(*database, run_id);
  const Json roofline = arguments.roofline ? roofline_of(*database, run_id) : Json();
  if (arguments.json) {
    run.update(details);
    if (arguments.roofline) run["roofline"] = roofline;
    print(json_text(run));
    return 0;
  }
  const TableStyle style = arguments.style();
  if (arguments.roofline) {
    print(style.text(heading(run) + roofline_text(roofline, arguments.database.string(), style)));
    return 0;
  }
  std::string text = heading(run) + skip_text(run) + failure_text(run["failure"]) + phases_text(run, style);
  if (!run["checks"].empty()) {
    text += table_text(checks_table(Json::array({run})), style) + "\n";
  }
  text += metrics_text(run);
  for (const std::string& line : warnings(Json::array({run}), style.wide)) text += "warning: " + line + "\n";
  text +=
      "\n" + observed_text(details, run, arguments.database.string(), style) + output_text(run["output"], kTailLines);
  while (text.ends_with("\n\n")) text.pop_back();
  print(style.text(text));
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
  runs->add_flag("--wide", arguments->wide, "show every column, whatever the width of the terminal");
  runs->add_flag("--markdown", arguments->markdown, "print the table in Markdown");
  finish(*runs, list_runs);

  CLI::App* show = app.add_subcommand(
      "show", "Show one run: times, warnings, top kernels and operators, memory, output and cause of failure");
  add_run_number(*show, arguments);
  show->add_flag("--wide", arguments->wide, "show every column, whatever the width of the terminal");
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
