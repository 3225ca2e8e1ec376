// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/execute.hpp"
#include "measure/pace.hpp"
#include "plan/suite.hpp"
#include "terminal/print.hpp"

namespace kymo::cli {
namespace {

struct SuiteArguments {
  std::string suite, profile;
  RunOptions options;
  bool json = false;  // of `suite list`
};

/// How long the runs of the suite may take without a profile and in each profile, such as "10 min, small: 5 min".
std::string time_limits(const Suite& suite) {
  std::vector<std::string> texts;
  if (suite.max_time_s > 0) texts.push_back(measure::time_text(suite.max_time_s));
  for (const auto& [profile, seconds] : suite.max_time_of_profiles_s)
    texts.push_back(profile + ": " + measure::time_text(seconds));
  return texts.empty() ? "no limit" : join(texts, ", ");
}

int list_suites(bool as_json) {
  Json json = Json::array();
  TextTable table{{"suite", "cases", "profiles", "maximum time", "title"}, {false, true}, {}};
  table.wraps = true;
  for (const std::string& name : suite_names()) {
    const Suite suite = find_suite(name, "");
    std::vector<std::string> cases;
    for (const CaseSpec& spec : suite.cases) cases.push_back(spec.name);
    json.push_back({{"name", name},
                    {"title", suite.title},
                    {"cases", cases},
                    {"profiles", suite.profiles},
                    {"max_time_s", suite.max_time_s > 0 ? Json(suite.max_time_s) : Json(nullptr)},
                    {"max_time_of_profiles_s", suite.max_time_of_profiles_s}});
    table.rows.push_back(
        {name, std::to_string(cases.size()), join(suite.profiles, ", "), time_limits(suite), suite.title});
  }
  print(as_json ? json_text(json) : table_text(table, output_style()));
  return 0;
}

int run_suite(const SuiteArguments& arguments, const std::string& command_line) {
  Targets targets(arguments.options.plugins);
  const Suite suite = find_suite(arguments.suite, arguments.profile);
  RunOptions options = arguments.options;
  if (!options.max_time_s && suite.max_time_s > 0) options.max_time_s = suite.max_time_s;
  if (options.max_time_s && !options.plan)
    std::fprintf(stderr, "kymo: suite %s takes at most about %s (--max-time)\n", visible(suite.name).c_str(),
                 measure::time_text(*options.max_time_s).c_str());
  const Invocation invocation{.specs = expand_patterns(suite.cases, [&] { return targets.workload_names(); }),
                              .missing = MissingDevice::kSkippedRun};
  return execute(invocation, targets, options, command_line);
}

}  // namespace

void add_suite(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<SuiteArguments>();
  CLI::App* command = app.add_subcommand("suite", "List and run suites of cases");
  command->require_subcommand(1);

  CLI::App* list = command->add_subcommand("list", "List the installed suites");
  list->add_flag("--json", arguments->json, "print JSON");
  session.on(*list, [arguments] { return list_suites(arguments->json); });

  CLI::App* run =
      command->add_subcommand("run", "Run the cases of a suite; cases whose device is missing are recorded as skipped");
  run->add_option("suite", arguments->suite, "suite name or path of a .toml file")->required()->type_name("SUITE");
  run->add_option("--profile", arguments->profile, "variant of the suite, such as small")->type_name("NAME");
  add_run_options(*run, arguments->options);
  run->footer("Example: kymo suite run quick");
  session.on(*run, [&session, arguments] { return run_suite(*arguments, session.command_line); });
}

}  // namespace kymo::cli
