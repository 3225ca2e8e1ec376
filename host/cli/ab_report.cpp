// SPDX-License-Identifier: Apache-2.0
#include "cli/ab_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "measure/sequential.hpp"
#include "measure/statistics.hpp"
#include "terminal/against.hpp"
#include "terminal/print.hpp"
#include "terminal/results_table.hpp"
#include "terminal/run_results.hpp"
#include "terminal/step_times.hpp"
#include "terminal/verdict.hpp"

namespace kymo::cli {
using namespace terminal;
namespace {

using measure::SequentialComparison;
using End = Experiment::End;

/// What the executions of a command used besides time.
struct CommandUse {
  std::vector<double> processor_ns;                 ///< of each run, the mean of its executions
  std::vector<std::int64_t> executions;             ///< of each run
  std::optional<std::int64_t> resident_peak_bytes;  ///< median over the runs; empty if it is too small to be measured
};

std::string seconds_text(double seconds) { return fmt::format("{:.0f} s", std::ceil(seconds)); }

/// 1 + the number of candidates that are faster.
std::size_t rank_of(const SequentialComparison& comparison, std::size_t candidate) {
  return 1 + static_cast<std::size_t>(std::ranges::count_if(comparison.pairs(), [&](const auto& pair) {
           return (pair.first == candidate && pair.result.verdict == measure::Verdict::kFaster) ||
                  (pair.second == candidate && pair.result.verdict == measure::Verdict::kSlower);
         }));
}

std::string runs_each(std::size_t runs) { return std::to_string(runs) + (runs == 1 ? " run each" : " runs each"); }

const char* measured_time(const AbReport& report) { return report.of_commands() ? "wall time" : "step"; }

/// The test of the processor times of a pair, at the level of one look; null if a time is unknown.
Json processor_json(const Experiment& experiment, const SequentialComparison::Pair& pair,
                    const std::vector<CommandUse>& uses, const AbReport& report) {
  const std::vector<double>&first = uses[pair.first].processor_ns, &second = uses[pair.second].processor_ns;
  const auto is_known = [](double time_ns) { return time_ns > 0; };
  if (first.empty() || second.empty() || !std::ranges::all_of(first, is_known) ||
      !std::ranges::all_of(second, is_known))
    return nullptr;
  const measure::Comparison found = measure::compare(first, second, report.margin, experiment.comparison().level());
  Json json = Json::object();
  put_comparison(json, found);
  json["sentence"] = verdict_sentence(report.names[pair.first], report.names[pair.second], found, report.margin,
                                      StepStatistic::kMean, "processor time");
  return json;
}

DeclaredWork work_of(const WorkByRun& work, const Json& run) {
  const auto found = work.find(integer_at(run, "run_id"));
  return found == work.end() ? DeclaredWork{} : found->second;
}

/// The pair of two candidates, seen from the first one.
Json pair_json(const Experiment& experiment, std::size_t index, const WorkByRun& work,
               const std::vector<CommandUse>& uses, const AbReport& report) {
  const SequentialComparison::Pair& pair = experiment.comparison().pairs().at(index);
  const TimeComparison compared = experiment.time_comparison(index);
  const std::string &first = report.names[pair.first], &second = report.names[pair.second];
  const char* const time = measured_time(report);
  Json json{{"first", first}, {"second", second}, {"runs", pair.runs}};
  put_time_comparison(json, compared);
  json["sentence"] = verdict_sentence(first, second, pair.result, report.margin, compared.statistic, time) + ", " +
                     runs_each(pair.runs);
  json["other_sentence"] = other_sentence(first, second, compared, report.margin, time);
  const Json &of_first = experiment.first_result(pair.first), &of_second = experiment.first_result(pair.second);
  json["warning"] = report.kind == CandidateKind::kWorkloads
                        ? unlike_work(of_first, work_of(work, of_first), of_second, work_of(work, of_second))
                        : "";
  if (report.of_commands()) json["processor"] = processor_json(experiment, pair, uses, report);
  return json;
}

void put_use(Json& candidate, const CommandUse& use) {
  candidate["processor_ns"] =
      use.processor_ns.empty() ? Json(nullptr) : Json(measure::summarize(use.processor_ns).median);
  candidate["processor_times_ns"] = use.processor_ns;
  candidate["executions"] = use.executions;
  candidate["resident_peak_bytes"] = use.resident_peak_bytes ? Json(*use.resident_peak_bytes) : Json(nullptr);
}

Json candidates_json(const Experiment& experiment, const std::vector<CommandUse>& uses, const AbReport& report) {
  const std::vector<std::string>& names = report.names;
  Json candidates = Json::array();
  const SequentialComparison& comparison = experiment.comparison();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::vector<double> values = comparison.values(i);
    const measure::Statistics between = measure::summarize(values);
    const Json& run = experiment.first_result(i);
    const SideTimes& times = experiment.times(i);
    candidates.push_back({{"candidate", names[i]},
                          {"rank", rank_of(comparison, i)},
                          {"workload", run["workload"]},
                          {"parameters", run["parameters"]},
                          {"runs", times.runs()},
                          {"min_ns", between.min},
                          {"max_ns", between.max},
                          {"times_ns", values},
                          {"medians_ns", times.values_ns(StepStatistic::kMedian)},
                          {"means_ns", times.values_ns(StepStatistic::kMean)}});
    put_times(candidates.back(), times, experiment.statistic());
    if (report.of_commands()) put_use(candidates.back(), uses[i]);
  }
  const auto position = [](const Json& each) {
    return std::pair{each["rank"].get<std::size_t>(), each["time_ns"].get<double>()};
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Json& left, const Json& right) { return position(left) < position(right); });
  return candidates;
}

/// Why there is no verdict, and what to do about it.
std::string hint(const Experiment& experiment, double max_time_s) {
  const SequentialComparison& comparison = experiment.comparison();
  switch (experiment.end()) {
    case End::kVerdict:
      return "";
    case End::kInterrupted:
      return "interrupted after " + runs_each(comparison.rounds()) + "\n";
    case End::kFailed:
      return "ended after " + runs_each(comparison.rounds()) + ", because the next run failed\n";
    case End::kMaxRuns:
      return "no verdict after the maximum of " + runs_each(comparison.rounds()) + "\n";
    case End::kMaxTime:
      break;
  }
  std::int64_t more = 0;
  for (const auto& pair : comparison.pairs()) more = std::max(more, pair.result.more_runs.value_or(0));
  const auto rounds = static_cast<double>(comparison.rounds());
  const double wanted_s = 1.2 * experiment.seconds() / rounds * (rounds + static_cast<double>(more));
  return "the time of " + seconds_text(max_time_s) + " is over" +
         (more > 0 && comparison.rounds() + static_cast<std::size_t>(more) <= SequentialComparison::kLooks.back()
              ? "; about " + std::to_string(more) + " more runs each are needed: --max-time " +
                    fmt::format("{:.0f}", std::ceil(wanted_s))
              : "") +
         "\n";
}

/// The warnings of the runs, without those that the candidates state once, and for commands without those about
/// executions that differ, of which the interval between the runs says enough.
std::vector<std::string> other_warnings(Json results, const AbReport& report) {
  const auto is_stated = [&](const Json& kind) {
    return kind == "unlike steps" || (report.of_commands() && (kind == "unstable" || kind == "not reproducible"));
  };
  for (Json& run : results) {
    Json kept = Json::array();
    for (Json& warning : run["warnings"])
      if (!is_stated(warning["kind"])) kept.push_back(std::move(warning));
    run["warnings"] = std::move(kept);
  }
  return warnings(results);
}

void print_tables(const Experiment& experiment, const Json& candidates, const Json& pairs, const AbReport& report,
                  const TextStyle& style) {
  print(output_text("ab",
                    {{"candidates", dump_json(candidates)},
                     {"statistic", to_string(experiment.statistic())},
                     {"time", measured_time(report)}},
                    style) +
        "\n");
  const auto line = [&](const std::string& text) {
    if (!text.empty()) print(style.text(visible(text) + "\n"));
  };
  for (const Json& pair : pairs) {
    line(value_text(pair["sentence"]) + ", " + seconds_text(experiment.seconds()));
    line(text_at(pair, "other_sentence"));
    if (!pair.contains("processor") || pair["processor"].is_null()) continue;
    const Json& verdict = pair["processor"]["verdict"];
    if (verdict == "FASTER" || verdict == "SLOWER") line(text_at(pair["processor"], "sentence"));
  }
  for (const Json& each : candidates)
    if (const std::string unlike = text_at(each, "unlike_steps"); !unlike.empty() && !report.of_commands())
      line(text_at(each, "candidate") + ": " + unlike);
  for (const Json& pair : pairs)
    if (const std::string warning = text_at(pair, "warning"); !warning.empty()) line("warning: " + warning);
  if (report.in_shell) line("run by sh, whose start is part of the times");
  print(style.text(hint(experiment, report.max_time_s)));
}

/// Why the fastest steps are compared; empty if they are not.
std::string busy_note(const Experiment& experiment, const AbReport& report) {
  std::vector<const SideTimes*> sides;
  for (std::size_t i = 0; i < report.names.size(); ++i) sides.push_back(&experiment.times(i));
  return busy_sentence(experiment.statistic(), report.names, sides);
}

/// That of the runs of complete rounds, by candidate.
std::vector<CommandUse> uses_of(const store::ResultsDatabase& database, const Experiment& experiment) {
  std::vector<CommandUse> uses;
  for (const std::vector<std::string>& run_ids : experiment.run_ids()) {
    CommandUse& use = uses.emplace_back();
    std::vector<double> peaks;
    for_rows(database,
             "SELECT s.run_id, avg(s.cpu_ms) * 1e6 AS processor_ns, count(*) AS executions, m.resident_peak_bytes "
             "FROM step_time s JOIN run_memory m ON m.run_id = s.run_id WHERE s.phase = 'step' AND s.warmup = 0 AND "
             "s.run_id IN (" +
                 join(run_ids, ", ") + ") GROUP BY s.run_id",
             [&](const Json& row) {
               if (!row["processor_ns"].is_null()) use.processor_ns.push_back(real_at(row, "processor_ns"));
               use.executions.push_back(integer_at(row, "executions"));
               if (!row["resident_peak_bytes"].is_null()) peaks.push_back(real_at(row, "resident_peak_bytes"));
             });
    if (2 * peaks.size() > use.executions.size()) use.resident_peak_bytes = std::llround(measure::median(peaks));
  }
  return uses;
}

}  // namespace

int report_verdicts(const Experiment& experiment, const AbReport& report, const RunOptions& options,
                    const store::ResultsDatabase& database, std::int64_t invocation, int code) {
  const std::vector<SequentialComparison::Pair>& compared = experiment.comparison().pairs();
  const std::vector<CommandUse> uses = report.of_commands() ? uses_of(database, experiment) : std::vector<CommandUse>{};
  const WorkByRun work = report.kind == CandidateKind::kWorkloads ? declared_work(database, invocation) : WorkByRun{};
  Json pairs = Json::array();
  for (std::size_t i = 0; i < compared.size(); ++i) pairs.push_back(pair_json(experiment, i, work, uses, report));
  const bool slower = std::ranges::any_of(
      compared, [](const auto& pair) { return pair.first == 0 && pair.result.verdict == measure::Verdict::kSlower; });
  if (code == 0 && slower && report.fail_on_slower) code = static_cast<int>(ExitCode::kRunFailed);
  const Json candidates = candidates_json(experiment, uses, report);
  const std::string busy = busy_note(experiment, report);
  if (options.json) {
    Json json{{"database", database.file().string()},
              {"invocation_id", invocation},
              {"exit_code", code},
              {"seconds", experiment.seconds()},
              {"max_time_s", report.max_time_s},
              {"margin", report.margin},
              {"statistic", to_string(experiment.statistic())},
              {"busy_sentence", busy},
              {"ended_by", to_string(experiment.end())},
              {"candidates", candidates},
              {"pairs", pairs}};
    if (report.of_commands()) json["shell"] = report.in_shell;
    print(json_text(json));
    return code;
  }
  const TextStyle style = output_style(options.wide, options.markdown);
  print_tables(experiment, candidates, pairs, report, style);
  if (!busy.empty()) print(style.text(visible(busy) + "\n"));
  for (const std::string& line : other_warnings(invocation_results(database, invocation), report))
    print(style.text("warning: " + line + "\n"));
  print(style.text("results: " + visible(database.file().string()) + ", invocation " + std::to_string(invocation) +
                   "\n"));
  return code;
}

}  // namespace kymo::cli
