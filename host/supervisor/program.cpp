// SPDX-License-Identifier: Apache-2.0
#include "supervisor/program.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/installation.hpp"
#include "base/json.hpp"
#include "base/machine.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace kymo::supervisor {
namespace {

using measure::Outcome;
using measure::RunStatus;

/// A process that trains and is not observed. `origin`: as in python/kymo_trace/_ranks.py.
struct Trained {
  std::string origin, command;
};

/// What the processes of the program wrote to the log file.
struct ProgramLog {
  std::string last, error;
  std::string unstepped;             ///< why a process has no complete step
  std::optional<std::int64_t> most;  ///< complete steps of a process that ended before those to observe
  std::map<pid_t, ProcessEnd> ends;  ///< of processes that multiprocessing started
  std::map<pid_t, Trained> trained;
  std::map<pid_t, std::string> replaced;  ///< what processes executed within the steps to observe
};

/// "PID CODE", where CODE is negative for a signal.
void add_end(const std::string& text, std::map<pid_t, ProcessEnd>& ends) {
  std::istringstream words(text);
  pid_t pid = -1;
  int code = 0;
  if (!(words >> pid >> code)) return;
  ends[pid] = code < 0 ? ProcessEnd{{}, -code} : ProcessEnd{code, {}};
}

/// "PID ORIGIN COMMAND".
void add_trained(const std::string& text, std::map<pid_t, Trained>& trained) {
  std::istringstream words(text);
  pid_t pid = -1;
  Trained found;
  if (!(words >> pid >> found.origin)) return;
  std::getline(words >> std::ws, found.command);
  found.command = one_line(found.command, 500);
  trained[pid] = std::move(found);
}

/// "PID COMMAND".
void add_replaced(const std::string& text, std::map<pid_t, std::string>& replaced) {
  std::istringstream words(text);
  pid_t pid = -1;
  std::string command;
  if (words >> pid && std::getline(words >> std::ws, command)) replaced[pid] = one_line(command, 500);
}

std::optional<std::int64_t> number_in(const std::string& text) {
  std::istringstream words(text);
  std::int64_t number = 0;
  return words >> number ? std::optional(number) : std::nullopt;
}

ProgramLog read_log(const std::filesystem::path& log_file) {
  std::ifstream file(log_file);
  ProgramLog found;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("error ")) found.error = one_line(line.substr(6), 500);
    if (line.starts_with("unstepped ")) found.unstepped = one_line(line.substr(10), 500);
    if (line.starts_with("steps ")) found.most = std::max(found.most, number_in(line.substr(6)));
    if (line.starts_with("ended ")) add_end(line.substr(6), found.ends);
    if (line.starts_with("trained ")) add_trained(line.substr(8), found.trained);
    if (line.starts_with("replaced ")) add_replaced(line.substr(9), found.replaced);
    if (line.starts_with("joined ")) found.trained.erase(static_cast<pid_t>(number_in(line.substr(7)).value_or(-1)));
    found.last = found.last == "torch" ? found.last : line;
  }
  for (const auto& [pid, command] : found.replaced) found.trained.erase(pid);
  return found;
}

const char* subject(std::size_t count, const char* one, const char* several) { return count == 1 ? one : several; }

/// "it", "them" or, if there are others, "2 of them".
std::string some(std::size_t count, std::size_t all, const char* one, const char* several) {
  return count < all ? std::to_string(count) + " of them" : subject(count, one, several);
}

/// How to observe processes that trained, by their origin.
std::vector<std::string> how_to_observe(const ProgramLog& log, ObservedProcesses processes) {
  static constexpr const char* kFirstProcess = "--ranks 1 observes the first process that calls a module";
  if (processes == ObservedProcesses::kRanks)
    return {std::string("only the ranks of a process group are observed; ") + kFirstProcess + " instead"};
  std::map<std::string, std::vector<std::string>> commands;
  for (const auto& [pid, each] : log.trained) commands[each.origin].push_back(each.command);
  const std::size_t all = log.trained.size();
  std::vector<std::string> texts;
  if (const std::size_t count = commands["spawned"].size(); count > 0)
    texts.push_back("multiprocessing started " + some(count, all, "it", "them") + " without a process group; " +
                    kFirstProcess + (processes == ObservedProcesses::kFirst ? ", and no other one" : ""));
  if (const std::size_t count = commands["forked"].size(); count > 0)
    texts.push_back(some(count, all, "it", "they") + subject(count, " is a fork", " are forks") +
                    " without a process group; with the start method spawn, " + kFirstProcess);
  if (const auto& own = commands["command"]; !own.empty())
    texts.push_back("observe the command of such a process itself: kymo trace -- " + own.front());
  return texts;
}

/// "2 other processes trained without being observed: ..."; empty if there are none.
std::string unobserved_training(const ProgramLog& log, ObservedProcesses processes, const char* other) {
  const std::size_t count = log.trained.size();
  if (count == 0) return "";
  return std::to_string(count) + other + subject(count, " process", " processes") + " trained and " +
         subject(count, "was", "were") + " not observed: " + join(how_to_observe(log, processes), "; ");
}

constexpr const char* kWithoutKymo =
    "with -S, or with -I or -E, or with a PYTHONPATH that replaces kymo's instead of adding to it "
    "(PYTHONPATH=FOLDER:$PYTHONPATH), in an environment that does not contain this kymo (pip install its wheel there), "
    "or without the variables that kymo sets (env -i)";

/// Why no process of the program connected.
std::string never_observed(const ProgramLog& log, ObservedProcesses processes) {
  if (!log.error.empty()) return "the program could not be observed: " + log.error;
  if (log.most > 0)
    return "the program ended after " + std::to_string(*log.most) +
           " complete steps, before the first step to observe; change --steps";
  const std::string training = unobserved_training(log, processes, "");
  const std::string also = training.empty() ? "" : "; " + training;
  if (!log.unstepped.empty()) return "the program has no complete step: " + log.unstepped + also;
  if (!training.empty()) return "nothing was observed: " + training;
  if (log.last == "torch")
    return "nothing was observed: the program imported torch, but no process called a torch.nn.Module on its main "
           "thread; processes that multiprocessing starts are observed once they have made a process group "
           "(torch.distributed.init_process_group), or with --ranks 1";
  if (log.last == "python")
    return "nothing was observed: the program never imported torch, unless in a process that does not load "
           "kymo because it runs " +
           std::string(kWithoutKymo);
  return "nothing was observed: no Python process of the program loaded kymo; it does not run Python, or runs it " +
         std::string(kWithoutKymo);
}

using Variables = std::vector<std::pair<std::string, std::string>>;

/// The value of a variable for the program, with a folder in front.
std::string with_first(const std::string& folder, const Variables& added, const char* variable) {
  const char* const inherited = std::getenv(variable);
  std::string before = inherited ? inherited : "";
  for (const auto& [name, value] : added)
    if (name == variable) before = value;
  return before.empty() ? folder : folder + ":" + before;
}

/// As python/kymo_trace/_windows.py reads it.
Json windows_of(const ObservedProgram& program, bool early, const std::filesystem::path& requests) {
  Json begins = Json::array({early ? 0 : program.skipped_steps});
  for (const Window& window : program.further_windows.listed) begins.push_back(window.begin());
  return {{"begins", program.further_windows.on_request ? Json::array() : begins},
          {"period", program.further_windows.period},
          {"page", requests.string()}};
}

}  // namespace

std::optional<RankProcess::MemoryUse> RankOfProgram::memory_use(std::int64_t bound_bytes) {
  const auto bytes = pid_ > 0 ? resident_bytes(pid_) : std::nullopt;
  if (!bytes) return std::nullopt;
  const bool exceeds = bound_bytes > 0 && *bytes > bound_bytes;
  return MemoryUse{*bytes, exceeds ? available_host_bytes() : std::nullopt};
}

std::map<int, std::vector<event::Metric>> logged_metrics(const std::filesystem::path& log_file) {
  std::map<int, std::vector<event::Metric>> by_rank;
  std::ifstream file(log_file);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    int rank = 0;
    if (!(words >> kind >> rank)) continue;
    if (kind == "unobserved") {
      event::Metric text;
      text.name = "not_observed";
      std::getline(words >> std::ws, text.text);
      by_rank[rank].push_back(text);
    }
    double count = 0, median_ns = 0;
    if (kind != "later" || !(words >> count >> median_ns)) continue;
    event::Metric steps;
    steps.name = "later_steps";
    steps.number = count;
    steps.unit = "steps";
    event::Metric median = steps;
    median.name = "later_step_median";
    median.number = median_ns / 1e6;
    median.unit = "ms";
    by_rank[rank].insert(by_rank[rank].end(), {steps, median});
  }
  return by_rank;
}

std::optional<event::Warning> unobserved_processes_warning(const std::filesystem::path& log_file,
                                                           ObservedProcesses processes) {
  const ProgramLog found = read_log(log_file);
  std::vector<std::string> texts;
  if (const std::string training = unobserved_training(found, processes, " other"); !training.empty())
    texts.push_back(training);
  for (const auto& [pid, command] : found.replaced)
    texts.push_back(
        "the program replaced itself (exec) within the steps to observe, and what followed was not observed: " +
        command);
  return texts.empty() ? std::nullopt : std::optional(event::Warning{"unobserved processes", join(texts, "; ")});
}

SpawnOptions observed_program(const SpawnRequest& request) {
  const ObservedProgram& program = request.run.program;
  const std::filesystem::path root = installation().root;
  const std::filesystem::path injected = root / "lib" / "kymo" / "inject";
  if (!std::filesystem::exists(injected / "sitecustomize.py"))
    throw Error("this installation of kymo has no " + quote((injected / "sitecustomize.py").string()));
  const ObservedProcesses processes = program.processes;
  const bool early = request.pass == measure::Pass::kMemory;
  const Json setting{{"address", request.address},
                     {"token", request.token},
                     {"ranks", processes == ObservedProcesses::kFound ? 0 : request.run.what.ranks},
                     {"single", processes != ObservedProcesses::kRanks},
                     {"children", processes == ObservedProcesses::kFirst},
                     {"workload", request.run.what.workload},
                     {"log", request.program_log.string()},
                     {"windows", windows_of(program, early, request.window_requests)},
                     {"early", early},
                     {"observed", program.observed_ranks},
                     {"package", (root / "lib" / "kymo" / "python").string()},
                     {"stop", stops(request.run, request.pass)}};
  SpawnOptions options;
  options.command = program.command;
  options.inherit_streams = !program.captures_output;
  options.environment = program.environment;
  options.environment.insert(options.environment.end(),
                             {{"KYMO_TRACE", dump_json(setting)},
                              {"KYMO_PASS", to_string(request.pass)},
                              {"PYTHONPATH", with_first(injected.string(), program.environment, "PYTHONPATH")}});
  return options;
}

bool stops(const PlannedRun& run, measure::Pass pass) {
  const FurtherWindows& windows = run.program.further_windows;
  const bool has_last_window = windows.period == 0 && !windows.on_request;
  return run.program.stop.value_or(pass == measure::Pass::kTrace && run.what.device == measure::DeviceKind::kCuda &&
                                   has_last_window);
}

measure::Method method_of_program(const ObservedProgram& program, const measure::Method& method, measure::Pass pass) {
  measure::Method own = method;
  if (pass != measure::Pass::kMemory) return own;
  own.warmup = program.skipped_steps + method.warmup + 1;
  own.observation.warmup = own.warmup;
  return own;
}

std::string to_text(const Window& window) { return std::to_string(window.first) + ":" + std::to_string(window.end()); }

Window first_window(const PlannedRun& program) {
  const measure::Method& method = program.method;
  return {program.program.skipped_steps + method.warmup, method.steps, method.warmup};
}

PlannedRun run_of_window(const PlannedRun& program, const Window& window) {
  PlannedRun run = program;
  run.method.warmup = run.method.observation.warmup = window.warmup;
  run.method.steps = window.steps;
  run.method.observation.steps = window.observed();
  run.what.parameters[measure::kWindowParameter] = to_text(window);
  run.title.parameters[measure::kWindowParameter] = {
      .position = 2, .title = ", steps {}", .is_setting = false, .choice = {}};
  return run;
}

Outcome outcome_of_program(Outcome verdict, const ProcessEnd& end, bool connected,
                           const std::filesystem::path& log_file, ObservedProcesses processes, pid_t pid) {
  const ProgramLog found = read_log(log_file);
  if (verdict.status == RunStatus::kCrashed && !connected) {
    verdict.status = RunStatus::kFailed;
    verdict.detail = never_observed(found, processes);
    if (end.signal || end.exit_code != 0) verdict.detail += "; it ended with " + end.describe();
  } else if (verdict.status == RunStatus::kCrashed && found.trained.contains(pid)) {
    verdict.detail += "; it had replaced itself by another program (exec), which trained and was not observed";
  } else if (verdict.status == RunStatus::kCrashed && found.ends.contains(pid)) {
    verdict.detail += "; its process ended with " + found.ends.at(pid).describe();
  } else if (verdict.status == RunStatus::kOk && (end.signal || end.exit_code != 0)) {
    verdict.status = end.signal ? RunStatus::kCrashed : RunStatus::kFailed;
    verdict.detail = "the program ended with " + end.describe();
  } else if (verdict.status == RunStatus::kFailed) {
    for (const std::string& reason : {found.error, found.unstepped})
      if (!reason.empty()) verdict.detail += "; " + reason;
  }
  verdict.exit_code = end.exit_code;
  verdict.signal = end.signal;
  return verdict;
}

}  // namespace kymo::supervisor
