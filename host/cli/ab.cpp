// SPDX-License-Identifier: Apache-2.0
// `kymo ab X Y`: measures candidates in turn until there is a verdict.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "cli/ab_candidates.hpp"
#include "cli/ab_experiment.hpp"
#include "cli/ab_report.hpp"
#include "cli/commands.hpp"
#include "cli/environment.hpp"
#include "cli/execute.hpp"
#include "cli/run_options.hpp"
#include "cli/typed_option.hpp"
#include "measure/sequential.hpp"
#include "plan/peer.hpp"
#include "terminal/results_table.hpp"
#include "terminal/run_results.hpp"
#include "worker/devices.hpp"

namespace kymo::cli {
namespace {

using measure::SequentialComparison;

constexpr std::size_t kMaxCandidates = 10;

struct AbArguments {
  std::vector<std::string> candidates, set;
  std::optional<std::int64_t> ranks;
  double max_time_s = 60;
  double margin = measure::kDefaultMargin;
  bool fail_on_slower = false;
  RunOptions options;
  CommandOptions commands;
};

catalog::Found find_candidate(Targets& targets, const std::string& workload) {
  try {
    return targets.find(workload);
  } catch (const UsageError& error) {
    if (!find_program(workload)) throw;
    throw UsageError(std::string(error.what()) + "; to time the program of this name, pass --command");
  }
}

/// The settings of --set apply to each candidate that has the parameter and does not set it itself.
CaseSpec spec_of(const std::string& text, const AbArguments& arguments, Targets& targets, std::set<std::string>& used) {
  const Peer candidate = peer_from(text, "a candidate");
  CaseSpec spec;
  spec.workload = candidate.workload;
  spec.set = candidate.set;
  const catalog::Workload& workload = *find_candidate(targets, candidate.workload).workload;
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
    // Equal files in two folders may import different modules.
    const std::string file = runs.back().what.plugin_file;
    if (!keys.insert(measure::equivalence_key(runs.back(), measure::Equivalence::kPlan) + file).second)
      throw UsageError("candidate " + quote(text) + " is identical to another one");
  }
  for (const std::string& shared : arguments.set)
    if (const auto name = name_and_value("--set", shared).first; !used.contains(name))
      throw UsageError("no candidate has a parameter " + quote(name));
  return runs;
}

/// One planned run for each candidate.
std::vector<supervisor::PlannedRun> candidates_of(const AbArguments& arguments, CandidateKind kind) {
  if (arguments.candidates.size() > kMaxCandidates)
    throw UsageError("'kymo ab' compares at most " + std::to_string(kMaxCandidates) + " candidates");
  const bool commands = kind == CandidateKind::kWholeCommands;
  if (kind != CandidateKind::kWorkloads && !arguments.set.empty())
    throw UsageError("--set does not apply to programs; write their arguments into the commands");
  if (commands && arguments.ranks) throw UsageError("--ranks does not apply to whole commands");
  std::vector<supervisor::PlannedRun> runs =
      commands                           ? planned_commands(arguments.candidates, arguments.commands, arguments.options)
      : kind == CandidateKind::kPrograms ? planned_programs(arguments.candidates, arguments.ranks, arguments.options)
                                         : planned_workloads(arguments);
  for (std::size_t i = 0; i < runs.size(); ++i)
    runs[i].label = std::string(utf8_prefix(arguments.candidates[i], kMaxLabelBytes));
  return runs;
}

/// The candidates as they are called in the verdicts. Whole commands may be the same.
std::vector<std::string> names_of(const std::vector<std::string>& candidates) {
  std::vector<std::string> names;
  for (const std::string& text : candidates) {
    const auto same = std::ranges::count(candidates, text);
    const auto before = std::count(candidates.begin(), candidates.begin() + std::ssize(names), text);
    names.push_back(same > 1 ? text + " #" + std::to_string(before + 1) : text);
  }
  return names;
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

int ab(const AbArguments& arguments, const std::string& command_line) {
  const CandidateKind kind = kind_of(arguments.candidates, arguments.commands, arguments.options);
  const std::vector<supervisor::PlannedRun> candidates = candidates_of(arguments, kind);
  const std::vector<supervisor::PlannedRun> runs = rounds_of(candidates);
  store::ResultsDatabase database(arguments.options.database, store::ResultsDatabase::Mode::kCreate);
  const std::int64_t invocation = database.begin_invocation(command_line, machine_facts());
  Experiment experiment(database, invocation, candidates.size(), arguments.max_time_s, arguments.margin,
                        kind == CandidateKind::kWholeCommands);
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
  if (experiment.rounds() > 0) {
    const AbReport report{.names = names_of(arguments.candidates),
                          .max_time_s = arguments.max_time_s,
                          .margin = arguments.margin,
                          .fail_on_slower = arguments.fail_on_slower,
                          .kind = kind,
                          .in_shell = candidates.front().command.in_shell};
    return report_verdicts(experiment, report, arguments.options, database, invocation, code);
  }
  if (kind == CandidateKind::kPrograms && code == static_cast<int>(ExitCode::kRunFailed))
    log::info("the steps of PyTorch programs are compared; to compare the times of the whole commands, pass --command");
  if (interrupted) log::error("interrupted before each candidate had a run: nothing is compared");
  return code;
}

}  // namespace

void add_ab(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<AbArguments>();
  CLI::App* command = app.add_subcommand(
      "ab",
      "Compare workloads, builds, parameters, programs or commands: run them in turn until there is a verdict or the "
      "time is over");
  command
      ->add_option(
          "candidates", arguments->candidates,
          "two or more of WORKLOAD, FILE.so or FILE.so:NAME, each with parameters of its own; or commands, each "
          "in quotes: if all of them start a Python script or module, or with --steps, the steps of PyTorch "
          "programs are compared, otherwise whole commands")
      ->required()
      ->expected(2, static_cast<int>(kMaxCandidates))
      ->type_name("WORKLOAD[:P=V,...]|COMMAND");
  command->add_option("--set", arguments->set, "fix a parameter of all candidates that have it: name=value")
      ->type_name("P=V")
      ->allow_extra_args(false);
  add_ranks_option(
      *command, arguments->ranks,
      "number of processes per run [1; for programs --nproc-per-node of torchrun, else as many as their first "
      "process group has]");
  seconds_option(*command, "--max-time", arguments->max_time_s, 1, 1e6,
                 "start no round that would probably end later than this many seconds after the first one began [60]");
  typed_option(*command, "--margin", arguments->margin, "REL",
               "largest relative difference treated as no difference [1%]", relative_error);
  command->add_flag("--fail-on-slower", arguments->fail_on_slower,
                    "exit with 3 if a candidate is slower than the first one");
  CommandOptions& commands = arguments->commands;
  command->add_flag("--command", commands.all,
                    "the candidates are whole commands, also without a space: compare their wall and processor times; "
                    "--warmup are executions before the first round [1], --min-time is the time of the executions "
                    "that a run of a short command consists of [0.1]");
  command->add_option("--prepare", commands.prepare, "execute this before each execution of a whole command, untimed")
      ->type_name("COMMAND")
      ->check(error_if_empty);
  command->add_flag("--ignore-failure", commands.ignore_failure, "accept exit codes of whole commands other than 0");
  typed_option(*command, "--output", commands.store_output, "null|store",
               "stdout of whole commands: discarded, or stored for 'kymo log', as their stderr is [null]",
               [](const std::string& option, const std::string& text) {
                 if (text != "null" && text != "store")
                   throw UsageError(option + " takes null or store, not " + quote(text));
                 return text == "store";
               });
  add_worker_options(*command, arguments->options);
  add_settings(*command, arguments->options, measure::SettingGroup::kSteps);
  add_output_options(*command, arguments->options);
  add_database_option(*command, arguments->options.database);
  add_plugin_options(*command, arguments->options.plugins);
  command->footer(
      "Examples: kymo ab attention_flash attention_sdpa:backend=cudnn --set sequence=4096\n"
      "          kymo ab --steps 50 \"python train.py\" \"python train.py --compile\"\n"
      "          kymo ab \"./convert a.bin\" \"./convert --threads 4 a.bin\"");
  session.on(*command, [&session, arguments] { return ab(*arguments, session.command_line); });
}

}  // namespace kymo::cli
