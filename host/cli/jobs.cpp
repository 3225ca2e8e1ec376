// SPDX-License-Identifier: Apache-2.0
// The sweeps that `run --on` and `suite run --on` started: list, wait for and cancel their jobs.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli/commands.hpp"
#include "cli/python_command.hpp"
#include "cli/run_options.hpp"

namespace kymo::cli {
namespace {

struct JobsArguments {
  std::filesystem::path database = "kymo.db";
  std::vector<std::string> sweeps;
  std::string python;
  bool json = false;
};

[[noreturn]] void jobs(const char* action, const JobsArguments& arguments) {
  run_python_command("jobs",
                     {{"action", action},
                      {"database", std::filesystem::absolute(arguments.database).string()},
                      {"sweeps", arguments.sweeps},
                      {"json", arguments.json}},
                     arguments.python);
}

}  // namespace

void add_jobs(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<JobsArguments>();
  CLI::App* command = app.add_subcommand("jobs", "List, wait for and cancel the jobs of sweeps started with --on");
  command->require_subcommand(1);

  const auto add = [&](const char* action, const char* documentation) {
    CLI::App* added = command->add_subcommand(action, documentation);
    add_database_option(*added, arguments->database);
    add_interpreter_option(*added, arguments->python, "submitit");
    session.on(*added, [action, arguments]() -> int { jobs(action, *arguments); });
    return added;
  };
  add("list", "List the sweeps of a database whose jobs are not collected, and what is left of them")
      ->add_flag("--json", arguments->json, "print JSON");
  CLI::App* wait = add("wait", "Wait for the jobs of sweeps whose command has ended, and merge their databases");
  wait->add_option("sweeps", arguments->sweeps, "sweeps, as listed [all of the database]")->type_name("SWEEP");
  CLI::App* cancel = add("cancel", "Cancel the jobs of sweeps; what they have measured is merged");
  cancel->add_option("sweeps", arguments->sweeps, "sweeps, as listed")->required()->type_name("SWEEP");
}

}  // namespace kymo::cli
