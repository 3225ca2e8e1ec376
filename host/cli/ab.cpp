// SPDX-License-Identifier: Apache-2.0
// `kymo ab X Y`: measures candidates in turn until there is a verdict.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/ab_experiment.hpp"
#include "cli/ab_programs.hpp"
#include "cli/against.hpp"
#include "cli/commands.hpp"
#include "cli/environment.hpp"
#include "cli/execute.hpp"
#include "cli/fit_table.hpp"
#include "cli/results_table.hpp"
#include "cli/run_options.hpp"
#include "cli/run_results.hpp"
#include "cli/step_times.hpp"
#include "cli/typed_option.hpp"
#include "cli/verdict.hpp"
#include "measure/sequential.hpp"
#include "measure/statistics.hpp"
#include "worker/devices.hpp"

namespace kymo::cli {
namespace {

using measure::SequentialComparison;
using End = Experiment::End;

constexpr std::size_t kMaxCandidates = 10;

struct AbArguments {
  std::vector<std::string> candidates, set;
  std::optional<std::int64_t> ranks;
  double max_time_s = 60;
  double margin = measure::kDefaultMargin;
  bool fail_on_slower = false;
  RunOptions options;
};

/// The settings of --set apply to each candidate that has the parameter and does not set it itself.
CaseSpec spec_of(const std::string& text, const AbArguments& arguments, Targets& targets, std::set<std::string>& used) {
  const Peer candidate = peer_from(text, "a candidate");
  CaseSpec spec;
  spec.workload = candidate.workload;
  spec.set = candidate.set;
  const catalog::Workload& workload = *targets.find(candidate.workload).workload;
  for (const std::string& shared : arguments.set) {
    const auto [name, value] = name_and_value("--set", shared);
    const auto has_name = [&](const auto& each) { return each.first == name; };
    const bool declared =
        std::ranges::any_of(workload.parameters, [&](const auto& parameter) { return parameter.name == name; });
    if (declared) used.insert(name);
    if (declared && std::ranges::none_of(spec.set, has_name)) spec.set.emplace_back(name, value);
  }
  spec.ranks = {arguments.ranks.value_or(1)};
  apply(arguments.options, spec);
  spec.method.fresh = true;  // the steps of one process are not independent
  return spec;
}

std::vector<supervisor::PlannedRun> planned_workloads(const AbArguments& arguments) {
  Targets targets(arguments.options.plugins);
  std::vector<supervisor::PlannedRun> runs;
  std::set<std::string> keys, used;
  const auto gpus = [] {
    const worker::Devices devices = worker::probe_devices();
    return Gpus{static_cast<int>(devices.gpus.size()), devices.no_gpu_reason};
  };
  for (const std::string& text : arguments.candidates) {
    const CaseSpec spec = spec_of(text, arguments, targets, used);
    const catalog::Found found = targets.find(spec.workload);
    runs.push_back(expand(spec, *found.plugin, *found.workload, gpus, MissingDevice::kUsageError).at(0).run);
    if (!keys.insert(measure::equivalence_key(runs.back(), measure::Equivalence::kPlan)).second)
      throw UsageError("candidate " + quote(text) + " is identical to another one");
  }
  for (const std::string& shared : arguments.set)
    if (const auto name = name_and_value("--set", shared).first; !used.contains(name))
      throw UsageError("no candidate has a parameter " + quote(name));
  return runs;
}

/// One planned run for each candidate.
std::vector<supervisor::PlannedRun> candidates_of(const AbArguments& arguments) {
  if (arguments.candidates.size() > kMaxCandidates)
    throw UsageError("'kymo ab' compares at most " + std::to_string(kMaxCandidates) + " candidates");
  const bool programs = are_programs(arguments.candidates);
  if (programs && !arguments.set.empty())
    throw UsageError("--set does not apply to programs; write their arguments into the commands");
  std::vector<supervisor::PlannedRun> runs =
      programs ? planned_programs(arguments.candidates, arguments.ranks, arguments.options)
               : planned_workloads(arguments);
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].label = arguments.candidates[i].substr(0, kMaxLabelBytes);
  return runs;
}

/// The rounds, up to the maximum. Every second round is in reverse order, so that a machine that becomes slower or
/// faster treats the candidates alike. Only the first round is verified.
std::vector<supervisor::PlannedRun> rounds_of(const std::vector<supervisor::PlannedRun>& candidates) {
  std::vector<supervisor::PlannedRun> runs;
  for (std::size_t round = 0; round < SequentialComparison::kLooks.back(); ++round) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      runs.push_back(candidates[round % 2 == 0 ? i : candidates.size() - 1 - i]);
      runs.back().repetition = static_cast<int>(round);
      runs.back().plan_index = runs.size() - 1;
      if (round > 0) runs.back().method.passes = {measure::Pass::kTime};
    }
  }
  return runs;
}

std::string seconds_text(double seconds) { return fmt::format("{:.0f} s", std::ceil(seconds)); }

/// 1 + the number of candidates that are faster.
std::size_t rank_of(const SequentialComparison& comparison, std::size_t candidate) {
  return 1 + static_cast<std::size_t>(std::ranges::count_if(comparison.pairs(), [&](const auto& pair) {
           return (pair.first == candidate && pair.result.verdict == measure::Verdict::kFaster) ||
                  (pair.second == candidate && pair.result.verdict == measure::Verdict::kSlower);
         }));
}

std::string runs_each(std::size_t runs) { return std::to_string(runs) + (runs == 1 ? " run each" : " runs each"); }

/// The pair of two candidates, seen from the first one.
Json pair_json(const Experiment& experiment, std::size_t index, const std::vector<std::string>& names, double margin) {
  const SequentialComparison::Pair& pair = experiment.comparison().pairs().at(index);
  const TimeComparison compared = experiment.time_comparison(index);
  const std::string &first = names[pair.first], &second = names[pair.second];
  Json json{{"first", first}, {"second", second}, {"runs", pair.runs}};
  put_time_comparison(json, compared);
  json["sentence"] =
      verdict_sentence(first, second, pair.result, margin, compared.statistic) + ", " + runs_each(pair.runs);
  json["other_sentence"] = other_sentence(first, second, compared, margin);
  return json;
}

Json candidates_json(const Experiment& experiment, const std::vector<std::string>& names) {
  Json candidates = Json::array();
  const SequentialComparison& comparison = experiment.comparison();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::vector<double>& values = comparison.values(i);
    const measure::Statistics between = measure::summarize(values);
    const Json& run = experiment.first_result(i);
    const SideTimes& times = experiment.times(i);
    candidates.push_back({{"candidate", names[i]},
                          {"rank", rank_of(comparison, i)},
                          {"workload", run["workload"]},
                          {"parameters", run["parameters"]},
                          {"runs", values.size()},
                          {"min_ns", between.min},
                          {"max_ns", between.max},
                          {"times_ns", values},
                          {"medians_ns", times.values_ns(StepStatistic::kMedian)},
                          {"means_ns", times.values_ns(StepStatistic::kMean)}});
    put_times(candidates.back(), times, experiment.statistic());
  }
  const auto position = [](const Json& each) {
    return std::pair{each["rank"].get<std::size_t>(), each["time_ns"].get<double>()};
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Json& left, const Json& right) { return position(left) < position(right); });
  return candidates;
}

/// The statistic that is compared comes first, with its range; the other one is shown where it disagrees.
TextTable candidates_table(const Json& candidates, StepStatistic statistic) {
  TableBuilder builder(candidates.size());
  const auto duration = [&](const char* name) {
    return [&candidates, name](std::size_t row) { return format_duration(real_at(candidates[row], name)); };
  };
  const StepStatistic other = other_than(statistic);
  const bool disagree = std::ranges::any_of(
      candidates, [](const Json& each) { return !each["unlike_steps"].get_ref<const std::string&>().empty(); });
  builder.add("rank", true, 0, [&](std::size_t row) { return candidates[row]["rank"].dump(); });
  builder.add("candidate", false, 0, [&](std::size_t row) { return value_text(candidates[row]["candidate"]); });
  builder.add("runs", true, 1, [&](std::size_t row) { return candidates[row]["runs"].dump(); });
  builder.add(std::string(to_string(statistic)) + " step", true, 0, duration("time_ns"));
  builder.add("between runs", true, 2, [&](std::size_t row) {
    return format_duration(real_at(candidates[row], "min_ns")) + " to " +
           format_duration(real_at(candidates[row], "max_ns"));
  });
  if (disagree) builder.add(std::string(to_string(other)) + " step", true, 0, duration(member_of(other)));
  return builder.table();
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

/// The warnings of the runs, without those that the candidates state once.
std::vector<std::string> other_warnings(Json results) {
  for (Json& run : results) {
    Json kept = Json::array();
    for (Json& warning : run["warnings"])
      if (warning["kind"] != "unlike steps") kept.push_back(std::move(warning));
    run["warnings"] = std::move(kept);
  }
  return warnings(results);
}

void print_verdicts(const Experiment& experiment, const Json& candidates, const Json& pairs, double max_time_s,
                    const TableStyle& style) {
  print(table_text(candidates_table(candidates, experiment.statistic()), style) + "\n");
  for (const Json& pair : pairs) {
    print(style.text(visible(value_text(pair["sentence"])) + ", " + seconds_text(experiment.seconds()) + "\n"));
    if (const std::string other = text_at(pair, "other_sentence"); !other.empty())
      print(style.text(visible(other) + "\n"));
  }
  for (const Json& each : candidates)
    if (const std::string unlike = text_at(each, "unlike_steps"); !unlike.empty())
      print(style.text(visible(text_at(each, "candidate")) + ": " + unlike + "\n"));
  print(style.text(hint(experiment, max_time_s)));
}

int report_verdicts(const Experiment& experiment, const AbArguments& arguments, const store::ResultsDatabase& database,
                    std::int64_t invocation, int code) {
  const std::vector<std::string>& names = arguments.candidates;
  const std::vector<SequentialComparison::Pair>& compared = experiment.comparison().pairs();
  Json pairs = Json::array();
  for (std::size_t i = 0; i < compared.size(); ++i) pairs.push_back(pair_json(experiment, i, names, arguments.margin));
  const bool slower = std::ranges::any_of(
      compared, [](const auto& pair) { return pair.first == 0 && pair.result.verdict == measure::Verdict::kSlower; });
  if (code == 0 && slower && arguments.fail_on_slower) code = static_cast<int>(ExitCode::kRunFailed);
  const Json candidates = candidates_json(experiment, names);
  if (arguments.options.json) {
    print(json_text({{"database", database.file().string()},
                     {"invocation_id", invocation},
                     {"exit_code", code},
                     {"seconds", experiment.seconds()},
                     {"max_time_s", arguments.max_time_s},
                     {"margin", arguments.margin},
                     {"statistic", to_string(experiment.statistic())},
                     {"ended_by", to_string(experiment.end())},
                     {"candidates", candidates},
                     {"pairs", pairs}}));
    return code;
  }
  const TableStyle style = output_style(arguments.options.wide, arguments.options.markdown);
  print_verdicts(experiment, candidates, pairs, arguments.max_time_s, style);
  for (const std::string& line : other_warnings(invocation_results(database, invocation)))
    print(style.text("warning: " + line + "\n"));
  print(style.text("results: " + visible(database.file().string()) + ", invocation " + std::to_string(invocation) +
                   "\n"));
  return code;
}

int ab(const AbArguments& arguments, const std::string& command_line) {
  const std::vector<supervisor::PlannedRun> candidates = candidates_of(arguments);
  const std::vector<supervisor::PlannedRun> runs = rounds_of(candidates);
  store::ResultsDatabase database(arguments.options.database, store::ResultsDatabase::Mode::kCreate);
  const std::int64_t invocation = database.begin_invocation(command_line, machine_facts());
  Experiment experiment(database, invocation, candidates.size(), arguments.max_time_s, arguments.margin);
  supervisor::Options options;
  options.proceed = [&](std::size_t finished) { return experiment.proceed(finished); };
  constexpr bool kFailOnOom = true;
  const auto limit = [&](supervisor::ProgressView& view) { experiment.limit(view); };
  const supervisor::Summary summary = execute_planned(database, invocation, runs, options, kFailOnOom, limit);
  const int code = exit_code(summary, kFailOnOom);
  if (summary.runs.size() == runs.size()) experiment.proceed(runs.size());  // the last round
  const bool interrupted = summary.signal != 0;
  experiment.finish(interrupted);
  if (code != 0)
    for (const std::string& line : failures(invocation_results(database, invocation))) log::error(line);
  if (experiment.rounds() > 0) return report_verdicts(experiment, arguments, database, invocation, code);
  if (interrupted) log::error("interrupted before each candidate had a run: nothing is compared");
  return code;
}

}  // namespace

void add_ab(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<AbArguments>();
  CLI::App* command = app.add_subcommand(
      "ab",
      "Compare workloads, builds, parameters or programs: run them in turn until there is a verdict or the time is "
      "over");
  command
      ->add_option("candidates", arguments->candidates,
                   "two or more of WORKLOAD, FILE.so or FILE.so:NAME, each with parameters of its own; or the commands "
                   "of two or more PyTorch programs, each in quotes")
      ->required()
      ->expected(2, static_cast<int>(kMaxCandidates))
      ->type_name("WORKLOAD[:P=V,...]|COMMAND");
  command->add_option("--set", arguments->set, "fix a parameter of all candidates that have it: name=value")
      ->type_name("P=V")
      ->allow_extra_args(false);
  number_option(
      *command, "--ranks", arguments->ranks, 1, kMaxRanks,
      "number of processes per run [1; for programs --nproc-per-node of torchrun, else as many as their first "
      "process group has]");
  seconds_option(*command, "--max-time", arguments->max_time_s, 1, 1e6,
                 "start no round that would probably end later than this many seconds after the first one began [60]");
  typed_option(*command, "--margin", arguments->margin, "REL",
               "largest relative difference treated as no difference [1%]", relative_error);
  command->add_flag("--fail-on-slower", arguments->fail_on_slower,
                    "exit with 3 if a candidate is slower than the first one");
  add_worker_options(*command, arguments->options);
  add_step_options(*command, arguments->options);
  add_output_options(*command, arguments->options);
  add_database_option(*command, arguments->options.database);
  add_plugin_options(*command, arguments->options.plugins);
  command->footer(
      "Examples: kymo ab attention_flash attention_sdpa:backend=cudnn --set sequence=4096\n"
      "          kymo ab --steps 50 \"python train.py\" \"python train.py --compile\"");
  session.on(*command, [&session, arguments] { return ab(*arguments, session.command_line); });
}

}  // namespace kymo::cli
