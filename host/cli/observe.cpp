// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/run_options.hpp"
#include "cli/typed_option.hpp"
#include "supervisor/window_requests.hpp"
#include "terminal/print.hpp"
#include "terminal/reading.hpp"
#include "terminal/run_details.hpp"
#include "terminal/run_results.hpp"

namespace kymo::cli {
namespace {

constexpr useconds_t kPollUs = 50'000;

struct ObserveArguments {
  std::optional<std::int64_t> process;
  std::int64_t steps = 10;
  bool wide = false;
};

supervisor::WaitingProgram waiting_program(std::optional<std::int64_t> process) {
  const auto pid = process ? std::optional(static_cast<pid_t>(*process)) : std::nullopt;
  const auto programs = supervisor::find_waiting_programs(pid);
  if (programs.size() == 1) return programs.front();
  if (programs.empty())
    throw UsageError((process ? "process " + std::to_string(*process) + " belongs to no program that waits for requests"
                              : std::string("no program waits for requests")) +
                     "; start one with kymo trace --wait -- COMMAND");
  std::vector<std::string> found;
  for (const auto& program : programs) found.push_back(std::to_string(program.supervisor));
  throw UsageError("several programs wait for requests; pass the process of one of them, such as that of its kymo: " +
                   join(found, ", "));
}

/// Returns the run of the window.
std::int64_t observe_window(const supervisor::WaitingProgram& program, supervisor::WindowRequests& requests,
                            std::int64_t steps) {
  if (!requests.request(steps)) throw Error("a window of this program is requested already; wait until it has ended");
  while (requests.is_pending()) {
    if (kill(program.supervisor, 0) != 0 && errno == ESRCH)
      throw Error("process " + std::to_string(program.supervisor) + ", which observes the program, has ended");
    usleep(kPollUs);
  }
  if (requests.run() == 0) throw Error("the program ended before the window began", ExitCode::kRunFailed);
  return requests.run();
}

int observe(const ObserveArguments& arguments) {
  const supervisor::WaitingProgram program = waiting_program(arguments.process);
  supervisor::WindowRequests requests(program.requests);
  const std::filesystem::path file = requests.database();
  const std::int64_t run = observe_window(program, requests, arguments.steps);
  const auto database = open_results(file);
  const Json results = results_of(*database, "SELECT " + std::to_string(run));
  const TextStyle style{.wide = arguments.wide, .markdown = false, .colour = false, .columns = output_columns()};
  const std::string text = program_text(*database, results, file.string(), style);
  const std::string steps = value_text(results.at(0)["parameters"][measure::kWindowParameter]);
  print(text +
        style.text("results: " + visible(file.string()) + ", run " + std::to_string(run) + ", steps " + steps + "\n"));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_observe(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<ObserveArguments>();
  CLI::App* command = app.add_subcommand("observe", "Observe the next steps of a running program");
  command
      ->add_option("process", arguments->process,
                   "a process of the program, or the kymo that started it [the only one that waits]")
      ->type_name("PID");
  number_option(*command, "--steps", arguments->steps, 1, measure::kMaxSteps, "number of steps to observe [10]");
  command->add_flag("--wide", arguments->wide, "show every result and metric, whatever the width of the terminal");
  command->footer(
      "The program was started by kymo trace --wait -- COMMAND. All of its ranks begin the window at the same step, "
      "and it becomes a run in the database of that command.");
  session.on(*command, [arguments] { return observe(*arguments); });
}

}  // namespace kymo::cli
