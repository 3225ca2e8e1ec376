// SPDX-License-Identifier: Apache-2.0
#include "cli/ab_candidates.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "plan/program_command.hpp"
#include "plan/program_plan.hpp"
#include "worker/devices.hpp"

namespace kymo::cli {
using namespace plan;
namespace {

constexpr std::size_t kMaxCommandBytes = 4096;  ///< of the name of a run

bool is_command(const std::string& candidate) { return trim(candidate).find(' ') != std::string::npos; }

void reject_options_of_workloads(const RunOptions& options, bool whole) {
  std::vector<std::string> names{"seed", "wrap", "max-steps", "until", "timing", "sync", "no-verify"};
  append_range(names, whole ? std::vector{"steps", "host-memory"} : std::vector{"min-time"});
  auto given = std::ranges::find_if(names, [&](const std::string& name) { return options.gives(name); });
  if (whole && options.device) given = names.insert(given, "device");
  if (given == names.end()) return;
  throw UsageError("--" + *given +
                   (whole ? " does not apply to whole commands; use --warmup, --min-time and --timeout"
                          : " does not apply to programs, which run their steps themselves; use --warmup and --steps"));
}

measure::Method method_of(const RunOptions& options) {
  measure::Method method = program_method();
  method.steps = measure::kMaxFreeSteps;
  method.passes = {measure::Pass::kTime};
  apply(options, method);
  return method;
}

/// Whether a command has characters that a shell interprets. Quotes protect them, and those of shell_words() are none.
bool has_shell_syntax(const std::string& command) {
  char quoted_by = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char letter = command[i];
    if (letter == '\\' && quoted_by == 0)
      ++i;
    else if (letter == quoted_by)
      quoted_by = 0;
    else if (quoted_by == 0 && (letter == '\'' || letter == '"'))
      quoted_by = letter;
    else if (std::strchr(quoted_by == 0 ? "|&;<>()$`*?[]{}~#!\n" : quoted_by == '"' ? "$`\\" : "", letter) != nullptr)
      return true;
  }
  return false;
}

bool is_python_program(const std::string& command) {
  return !has_shell_syntax(command) && starts_python(without_environment(shell_words(command)));
}

/// Whether a shell has a command of this name: a builtin, if there is no such program.
bool shell_knows(const std::string& word) {
  static constexpr double kDeadline_s = 20;
  SpawnOptions options;
  options.command = {"sh", "-c", "command -v \"$0\"", word};
  return run_command(options, kDeadline_s).end.exit_code == 0;
}

measure::Method method_of_commands(const RunOptions& options) {
  measure::Method method;
  method.fresh = true;
  method.passes = {measure::Pass::kTime};
  method.warmup = 1;
  method.timeout_s = 0;
  // One execution is a run; of short commands, several are.
  method.until.emplace();
  method.until->min_samples = 1;
  method.until->min_seconds = 0.1;
  apply(options, method);
  return method;
}

supervisor::PlannedRun plan_command(const std::string& text, bool in_shell) {
  supervisor::PlannedRun run;
  const std::vector<std::string> words = shell_words(text);
  run.command.in_shell = in_shell;
  run.command.words = in_shell ? std::vector<std::string>{"sh", "-c", text} : words;
  const std::string& first = run.command.words.front();
  const auto program = find_program(first);
  if (!program) throw UsageError("there is no program " + quote(first));
  run.what.workload = one_line(text, kMaxCommandBytes);
  run.what.plugin_file = program->string();
  run.what.plugin_sha256 = sha256(read_file(*program));
  run.plugin = {.name = first,
                .version = "",
                .file = program->string(),
                .sha256 = run.what.plugin_sha256,
                .framework = "",
                .framework_version = "",
                .cuda_version = "",
                .compiler = ""};
  run.title.workload = run.what.workload;
  return run;
}

}  // namespace

CandidateKind kind_of(const std::vector<std::string>& candidates, const CommandOptions& commands,
                      const RunOptions& options) {
  if (commands.all) return CandidateKind::kWholeCommands;
  const auto command = std::ranges::find_if(candidates, is_command);
  const auto workload = std::ranges::find_if_not(candidates, is_command);
  const bool is_whole = !commands.prepare.empty() || commands.ignore_failure || commands.store_output;
  if (command == candidates.end()) {
    if (is_whole) throw UsageError("--prepare, --ignore-failure and --output apply to whole commands; see --command");
    return CandidateKind::kWorkloads;
  }
  if (workload != candidates.end())
    throw UsageError("a command cannot be compared with a workload: " + quote(*command) +
                     " is a command, because it contains a space, and " + quote(*workload) +
                     " is a workload; --command makes every candidate a command");
  const bool has_steps = options.gives("steps") || std::ranges::all_of(candidates, is_python_program);
  return has_steps && !is_whole ? CandidateKind::kPrograms : CandidateKind::kWholeCommands;
}

std::vector<supervisor::PlannedRun> planned_programs(const std::vector<std::string>& candidates,
                                                     std::optional<std::int64_t> ranks, const RunOptions& options) {
  reject_options_of_workloads(options, false);
  std::vector<supervisor::PlannedRun> runs;
  std::set<std::vector<std::string>> commands;
  for (const std::string& text : candidates) {
    const std::vector<std::string> command = shell_words(text);
    if (!commands.insert(command).second) throw UsageError("candidate " + quote(text) + " is identical to another one");
    supervisor::PlannedRun& run =
        runs.emplace_back(plan_program({command, options.device.value_or(DeviceChoice::kAuto), ranks}));
    run.method = method_of(options);
    run.program.stop = options.gives("steps");
    run.program.captures_output = true;
  }
  return runs;
}

bool needs_shell(const std::string& command) {
  if (has_shell_syntax(command)) return true;
  const std::vector<std::string> words = shell_words(command);
  if (words.empty()) throw UsageError("a command is empty");
  if (without_environment(words).size() < words.size() && words.front().find('=') != std::string::npos) return true;
  if (find_program(words.front())) return false;
  if (!shell_knows(words.front())) throw UsageError("there is no program " + quote(words.front()));
  return true;
}

std::vector<supervisor::PlannedRun> planned_commands(const std::vector<std::string>& candidates,
                                                     const CommandOptions& commands, const RunOptions& options) {
  reject_options_of_workloads(options, true);
  bool in_shell = false;
  for (const std::string& text : candidates) in_shell = needs_shell(text) || in_shell;
  const event::Device device = worker::cpu_device();
  std::vector<supervisor::PlannedRun> runs;
  for (const std::string& text : candidates) {
    supervisor::PlannedRun& run = runs.emplace_back(plan_command(text, in_shell));
    run.method = method_of_commands(options);
    run.command.ignores_failure = commands.ignore_failure;
    run.command.stores_output = commands.store_output;
    run.command.device = device;
    if (commands.prepare.empty()) continue;
    run.command.prepare = {"sh", "-c", commands.prepare};
    run.what.parameters["prepare"] = commands.prepare;
    run.title.parameters["prepare"] = {.position = 0, .title = "", .is_setting = false, .choice = {}};
  }
  return runs;
}

}  // namespace kymo::cli
