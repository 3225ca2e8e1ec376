// SPDX-License-Identifier: Apache-2.0
// `kymo history`: the times of cases over the commits of a project.
#include "cli/history.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/commit.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/run_options.hpp"
#include "cli/typed_option.hpp"
#include "plan/option_text.hpp"
#include "terminal/print.hpp"
#include "terminal/reading.hpp"

namespace kymo::cli {
namespace {

struct HistoryArguments {
  HistoryRequest request;
  std::filesystem::path database = "kymo.db";
  bool commits = false, fail_on_slower = false, wide = false, markdown = false, json = false;
};

/// True if the newest stretch of a series is slower than the one before it.
bool ends_slower(const Json& series) {
  const Json& changes = series["changes"];
  return !changes.empty() && changes.back()["verdict"] == "SLOWER";
}

int history(const HistoryArguments& arguments) {
  const auto database = open_results(arguments.database);
  const Json found = history_here(*database, arguments.request);
  const bool nothing =
      found["series"].empty() && found["without_commit"].empty() && found["dirty"].empty() && found["untimed"].empty();
  if (nothing)
    throw UsageError(arguments.request.filter.empty()
                         ? "no finished run in " + quote(arguments.database.string())
                         : "no finished run matches " + quote(arguments.request.filter) + "; 'kymo runs' lists them");
  if (arguments.json) {
    print(json_text(found));
  } else {
    const TextStyle style = output_style(arguments.wide, arguments.markdown);
    const report::Output::Parameters parameters{{"history", dump_json(found)}};
    if (!found["series"].empty()) print(output_text("history", parameters, style));
    if (!found["series"].empty() && arguments.commits) print("\n" + output_text("history_commits", parameters, style));
    std::fflush(stdout);
    for (const std::string& note : history_notes(found)) log::warning(note);
  }
  const bool slower = std::ranges::any_of(found["series"], ends_slower);
  return static_cast<int>(arguments.fail_on_slower && slower ? ExitCode::kRunFailed : ExitCode::kOk);
}

}  // namespace

Json history_here(const store::ResultsDatabase& database, HistoryRequest request) {
  std::error_code error;
  if (const auto working_tree = working_tree_of(std::filesystem::current_path(error)))
    request.known = ordered_commits(*working_tree, stored_hashes(database));
  return history_of(database, request);
}

void add_history(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<HistoryArguments>();
  CLI::App* command = app.add_subcommand(
      "history", "Show the times of cases over the commits of a project, and test where they changed");
  command
      ->add_option("case", arguments->request.filter,
                   "only cases whose workload and parameters (name=value) match [all]")
      ->type_name("REGEX");
  typed_option(*command, "--margin", arguments->request.margin, "REL",
               "largest relative difference treated as no difference [1%]", relative_error);
  typed_option(*command, "--level", arguments->request.level, "REL",
               "probability of a change point that is none, in all cases together [1%]", relative_error);
  command->add_flag("--commits", arguments->commits, "also list each commit");
  command->add_flag("--fail-on-slower", arguments->fail_on_slower,
                    "exit with 3 if the last change point of a case is a slowdown");
  add_table_options(*command, arguments->wide, arguments->markdown, arguments->json);
  add_database_option(*command, arguments->database);
  command->footer(
      "Runs store the commit that was checked out: run 'kymo run W --repeat 5 --fresh' at each commit. 'kymo report "
      "history' draws the times.\nExample: kymo history attention --commits");
  session.on(*command, [arguments] { return history(*arguments); });
}

}  // namespace kymo::cli
