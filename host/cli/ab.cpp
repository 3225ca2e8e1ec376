// SPDX-License-Identifier: Apache-2.0
// `kymo ab X Y`: measures candidates in turn until there is a verdict.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/ab_programs.hpp"
#include "cli/against.hpp"
#include "cli/commands.hpp"
#include "cli/environment.hpp"
#include "cli/execute.hpp"
#include "cli/fit_table.hpp"
#include "cli/results_table.hpp"
#include "cli/run_results.hpp"
#include "cli/verdict.hpp"
#include "measure/sequential.hpp"
#include "measure/statistics.hpp"
#include "worker/devices.hpp"

namespace kymo::cli {
namespace {

using measure::SequentialComparison;

constexpr std::size_t kMaxCandidates = 10;
constexpr std::size_t kMaxLabelBytes = 200;

struct AbArguments {
  std::vector<std::string> candidates, set;
  std::optional<std::int64_t> ranks;
  double max_time_s = 60;
  double margin = measure::kDefaultMargin;
  bool fail_on_slower = false;
  RunOptions options;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

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

/// Measures rounds until there is a verdict or the next round would probably end after the maximum time.
class Experiment {
 public:
  Experiment(const store::ResultsDatabase& database, std::int64_t invocation, std::size_t candidates,
             const AbArguments& arguments)
      : database_(database),
        invocation_(invocation),
        count_(candidates),
        max_time_s_(arguments.max_time_s),
        comparison_(candidates, arguments.margin),
        round_(candidates, 0.0) {}

  /// Whether to start another run after `finished` runs.
  bool proceed(std::size_t finished) {
    if (finished == 0) return true;
    if (!take(finished - 1)) return false;
    if (finished % count_ != 0) return true;
    const double elapsed_s = seconds_since(start_);
    longest_round_s_ = std::max(longest_round_s_, elapsed_s - round_started_s_);
    if (comparison_.rounds() == 0) first_round_s_ = std::exchange(longest_round_s_, 0.0);  // it includes verification
    round_started_s_ = elapsed_s;
    if (!comparison_.add_round(round_)) return false;
    const double expected_s = longest_round_s_ > 0 ? longest_round_s_ : first_round_s_;
    out_of_time_ = elapsed_s + expected_s > max_time_s_;
    return !out_of_time_;
  }

  void finish() {
    seconds_ = seconds_since(start_);
    if (comparison_.rounds() > 0) comparison_.finish();
  }

  const SequentialComparison& comparison() const { return comparison_; }
  double seconds() const { return seconds_; }
  bool out_of_time() const { return out_of_time_; }
  bool failed() const { return failed_; }
  const Json& first_result(std::size_t candidate) const { return first_results_.at(candidate); }
  bool has_results() const { return comparison_.rounds() > 0; }

 private:
  /// Reads the median of a finished run; false if it failed.
  bool take(std::size_t index) {
    const Json run = brief_result(database_, invocation_, index);
    failed_ = run.is_null() || run["status"] != "ok" || !run["phases"].contains("step");
    if (failed_) return false;
    const std::size_t round = index / count_;
    const std::size_t candidate = round % 2 == 0 ? index % count_ : count_ - 1 - index % count_;
    const Json& step = run["phases"]["step"];
    clocks_.insert(step["clock"].get<std::string>());
    if (clocks_.size() > 1) throw UsageError("the candidates are timed on different clocks: host and device");
    round_[candidate] = step["median_ns"].get<double>();
    if (round == 0) first_results_[candidate] = run;
    return true;
  }

  const store::ResultsDatabase& database_;
  std::int64_t invocation_;
  std::size_t count_;
  double max_time_s_;
  SequentialComparison comparison_;
  std::vector<double> round_;
  std::map<std::size_t, Json> first_results_;
  std::set<std::string> clocks_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double round_started_s_ = 0, first_round_s_ = 0, longest_round_s_ = 0, seconds_ = 0;
  bool out_of_time_ = false, failed_ = false;
};

std::string seconds_text(double seconds) { return fmt::format("{:.0f} s", std::ceil(seconds)); }

/// 1 + the number of candidates that are faster.
std::size_t rank_of(const SequentialComparison& comparison, std::size_t candidate) {
  return 1 + static_cast<std::size_t>(std::ranges::count_if(comparison.pairs(), [&](const auto& pair) {
           return (pair.first == candidate && pair.result.verdict == measure::Verdict::kFaster) ||
                  (pair.second == candidate && pair.result.verdict == measure::Verdict::kSlower);
         }));
}

/// The pair of two candidates, seen from the first one.
Json pair_json(const SequentialComparison::Pair& pair, const std::vector<std::string>& names, double margin) {
  const std::string sentence = verdict_sentence(names[pair.first], names[pair.second], pair.result, margin) + ", " +
                               std::to_string(pair.runs) + (pair.runs == 1 ? " run each" : " runs each");
  Json json{{"first", names[pair.first]}, {"second", names[pair.second]}, {"runs", pair.runs}};
  put_comparison(json, pair.result);
  json["sentence"] = sentence;
  return json;
}

Json candidates_json(const Experiment& experiment, const std::vector<std::string>& names) {
  Json candidates = Json::array();
  const SequentialComparison& comparison = experiment.comparison();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::vector<double>& values = comparison.values(i);
    const measure::Statistics between = measure::summarize(values);
    const Json& run = experiment.first_result(i);
    candidates.push_back({{"candidate", names[i]},
                          {"rank", rank_of(comparison, i)},
                          {"workload", run["workload"]},
                          {"parameters", run["parameters"]},
                          {"runs", values.size()},
                          {"median_ns", between.median},
                          {"min_ns", between.min},
                          {"max_ns", between.max},
                          {"medians_ns", values}});
  }
  const auto position = [](const Json& each) {
    return std::pair{each["rank"].get<std::size_t>(), each["median_ns"].get<double>()};
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Json& left, const Json& right) { return position(left) < position(right); });
  return candidates;
}

TextTable candidates_table(const Json& candidates) {
  TableBuilder builder(candidates.size());
  const auto duration = [&](std::size_t row, const char* name) {
    return format_duration(candidates[row][name].get<double>());
  };
  builder.add("rank", true, 0, [&](std::size_t row) { return candidates[row]["rank"].dump(); });
  builder.add("candidate", false, 0, [&](std::size_t row) { return value_text(candidates[row]["candidate"]); });
  builder.add("runs", true, 1, [&](std::size_t row) { return candidates[row]["runs"].dump(); });
  builder.add("median step", true, 0, [&](std::size_t row) { return duration(row, "median_ns"); });
  builder.add("between runs", true, 2,
              [&](std::size_t row) { return duration(row, "min_ns") + " to " + duration(row, "max_ns"); });
  return builder.table();
}

/// What to do about a missing verdict.
std::string hint(const Experiment& experiment, double max_time_s) {
  const SequentialComparison& comparison = experiment.comparison();
  if (std::ranges::all_of(comparison.pairs(), &SequentialComparison::Pair::decided)) return "";
  if (!experiment.out_of_time())
    return "no verdict after the maximum of " + std::to_string(comparison.rounds()) + " runs each\n";
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

int report_verdicts(const Experiment& experiment, const AbArguments& arguments, const store::ResultsDatabase& database,
                    std::int64_t invocation, int code) {
  const std::vector<std::string>& names = arguments.candidates;
  Json pairs = Json::array();
  for (const auto& pair : experiment.comparison().pairs()) pairs.push_back(pair_json(pair, names, arguments.margin));
  const bool slower = std::ranges::any_of(experiment.comparison().pairs(), [](const auto& pair) {
    return pair.first == 0 && pair.result.verdict == measure::Verdict::kSlower;
  });
  if (code == 0 && slower && arguments.fail_on_slower) code = static_cast<int>(ExitCode::kRunFailed);
  const Json candidates = candidates_json(experiment, names);
  if (arguments.options.json) {
    print(json_text({{"database", database.file().string()},
                     {"invocation_id", invocation},
                     {"exit_code", code},
                     {"seconds", experiment.seconds()},
                     {"max_time_s", arguments.max_time_s},
                     {"margin", arguments.margin},
                     {"candidates", candidates},
                     {"pairs", pairs}}));
    return code;
  }
  TextTable table = candidates_table(candidates);
  if (!arguments.options.markdown && !arguments.options.wide) fit(table, output_columns());
  print(arguments.options.markdown ? markdown(table) : render(table, colour_on_stdout()));
  print("\n");
  for (const Json& pair : pairs)
    print(visible(value_text(pair["sentence"])) + ", " + seconds_text(experiment.seconds()) + "\n");
  print(hint(experiment, arguments.max_time_s));
  for (const std::string& line : warnings(invocation_results(database, invocation))) print("warning: " + line + "\n");
  print("results: " + visible(database.file().string()) + ", invocation " + std::to_string(invocation) + "\n");
  return code;
}

int ab(const AbArguments& arguments, const std::string& command_line) {
  const std::vector<supervisor::PlannedRun> candidates = candidates_of(arguments);
  const std::vector<supervisor::PlannedRun> runs = rounds_of(candidates);
  store::ResultsDatabase database(arguments.options.database, store::ResultsDatabase::Mode::kCreate);
  const std::int64_t invocation = database.begin_invocation(command_line, machine_facts());
  Experiment experiment(database, invocation, candidates.size(), arguments);
  supervisor::Options options;
  options.proceed = [&](std::size_t finished) { return experiment.proceed(finished); };
  constexpr bool kFailOnOom = true;
  const supervisor::Summary summary = execute_planned(database, invocation, runs, options, kFailOnOom);
  const int code = exit_code(summary, kFailOnOom);
  if (summary.runs.size() == runs.size()) experiment.proceed(runs.size());  // the last round
  experiment.finish();
  if (code != 0)
    for (const std::string& line : failures(invocation_results(database, invocation))) log::error(line);
  return experiment.has_results() ? report_verdicts(experiment, arguments, database, invocation, code) : code;
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
  command
      ->add_option_function<std::string>(
          "--ranks",
          [arguments](const std::string& text) { arguments->ranks = whole_number("--ranks", text, 1, kMaxRanks); },
          "number of processes per run [1; for programs --nproc-per-node of torchrun, else as many as their first "
          "process group has]")
      ->type_name("N");
  command
      ->add_option_function<std::string>(
          "--max-time",
          [arguments](const std::string& text) { arguments->max_time_s = real_number("--max-time", text, 1, 1e6); },
          "start no round that would probably end later than this many seconds after the first one began [60]")
      ->type_name("SECONDS");
  command
      ->add_option_function<std::string>(
          "--margin", [arguments](const std::string& text) { arguments->margin = relative_error("--margin", text); },
          "largest relative difference treated as no difference [1%]")
      ->type_name("REL");
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
