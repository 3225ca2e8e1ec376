// SPDX-License-Identifier: Apache-2.0
#include "plan/program_plan.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "plan/program_command.hpp"
#include "worker/devices.hpp"

namespace kymo::plan {
namespace {

/// Versions of the interpreter and of its torch package; empty if they are not known before the program runs.
struct Versions {
  std::string python, torch;
};

Versions versions_of(const std::string& python) {
  static std::map<std::string, Versions> known;
  if (python.empty()) return {};
  const auto [found, is_new] = known.try_emplace(python);
  if (!is_new) return found->second;
  static constexpr double kDeadline_s = 20;
  SpawnOptions options;
  options.command = {python, "-c",
                     "import sys, importlib.metadata as m; print(sys.version.split()[0]); print(m.version('torch'))"};
  const auto lines = split(run_command(options, kDeadline_s).stdout_text, '\n');
  Versions& versions = found->second;
  if (!lines.empty() && !lines[0].empty()) versions.python = "CPython " + lines[0];
  if (lines.size() > 1) versions.torch = lines[1].substr(0, lines[1].find('+'));
  return versions;
}

bool has_gpu() {
  static const bool found = !worker::probe_devices().gpus.empty();
  return found;
}

supervisor::ObservedProcesses processes_of(std::optional<std::int64_t> ranks) {
  using enum supervisor::ObservedProcesses;
  return !ranks ? kFound : *ranks == 1 ? kFirst : kRanks;
}

bool is_assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  return equals != std::string::npos && equals > 0 && std::isdigit(static_cast<unsigned char>(word[0])) == 0 &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

/// `env NAME=VALUE COMMAND`, whose variables are those of the command: env would replace what kymo adds to them.
bool calls_env(const std::vector<std::string>& command) {
  return command.size() > 2 && std::filesystem::path(command[0]).filename() == "env" && is_assignment(command[1]);
}

}  // namespace

std::vector<std::string> without_environment(const std::vector<std::string>& command) {
  return {std::find_if_not(command.begin() + (calls_env(command) ? 1 : 0), command.end(), is_assignment),
          command.end()};
}

supervisor::PlannedRun plan_program(const ProgramRequest& request) {
  const auto begin = request.command.begin() + (calls_env(request.command) ? 1 : 0);
  const std::vector<std::string> command = without_environment(request.command);
  const auto first = request.command.end() - std::ssize(command);
  const ProgramCommand program = parse_program_command(command);
  const Versions versions = versions_of(program.python);
  const bool cuda = request.device == DeviceChoice::kCuda || (request.device == DeviceChoice::kAuto && has_gpu());
  supervisor::PlannedRun run;
  std::vector<std::string> environment;
  for (auto word = begin; word != first; ++word) {
    run.program.environment.push_back(name_and_value("the command", *word));
    environment.push_back(shell_word(*word));
  }
  run.program.command = command;
  run.what.plugin_file = program.file.string();
  run.what.workload = program.name;
  run.what.parameters["arguments"] = program.arguments;
  if (!environment.empty()) run.what.parameters["environment"] = join(environment, " ");
  const auto ranks = request.ranks ? request.ranks : program.ranks;
  run.what.ranks = static_cast<int>(ranks.value_or(1));
  run.program.processes = processes_of(ranks);
  run.what.device = cuda ? measure::DeviceKind::kCuda : measure::DeviceKind::kCpu;
  // What was measured depends on the script and on torch; modules that the script imports are not known.
  const std::string script = program.file.empty() ? "" : sha256(read_file(program.file));
  run.what.plugin_sha256 = sha256(join({script, program.name, versions.python, versions.torch}, "\n"));
  run.plugin = {.name = program.name,
                .version = "",
                .file = program.file.string(),
                .sha256 = run.what.plugin_sha256,
                .framework = "libtorch",
                .framework_version = versions.torch,
                .cuda_version = "",
                .compiler = versions.python};
  run.title.workload = program.name;
  for (const auto& [name, value] : run.what.parameters)
    run.title.parameters[name] = {.position = name == "arguments" ? 0 : 1,
                                  .title = std::get<std::string>(value).empty() ? "" : " {}",
                                  .is_setting = false,
                                  .choice = {}};
  return run;
}

measure::Method program_method() {
  measure::Method method;
  method.timing = measure::Timing::kFree;
  method.fresh = true;
  method.timeout_s = 0;
  return method;
}

std::vector<std::string> shell_words(const std::string& text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quoted_by = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (quoted_by == 0 && std::isspace(static_cast<unsigned char>(letter)) != 0) {
      in_word = false;
      continue;
    }
    if (!std::exchange(in_word, true)) words.emplace_back();
    if (quoted_by == 0 && (letter == '\'' || letter == '"')) {
      quoted_by = letter;
    } else if (letter == quoted_by) {
      quoted_by = 0;
    } else if (letter == '\\' && quoted_by != '\'' && i + 1 < text.size()) {
      words.back() += text[++i];
    } else {
      words.back() += letter;
    }
  }
  if (quoted_by != 0) throw UsageError("a quote is not closed in the command " + quote(text));
  return words;
}

}  // namespace kymo::plan
