// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "base/json.hpp"
#include "cli/commands.hpp"
#include "cli/diagnosis.hpp"
#include "cli/run_options.hpp"
#include "terminal/print.hpp"

namespace kymo::cli {
namespace {

struct DoctorArguments {
  std::filesystem::path database = "kymo.db";
  bool json = false;
};

int doctor(const DoctorArguments& arguments) {
  catalog::Options options;
  if (!arguments.json) options.announce = print_announcement;
  const std::vector<Finding> findings = examine(arguments.database, options);
  Json json = Json::array();
  const TextStyle style = output_style();
  TextTable table{{"subject", "state", "found"}, {}, {}};
  table.wraps = true;
  std::string remedies;
  for (const Finding& finding : findings) {
    json.push_back({{"subject", finding.subject},
                    {"state", to_string(finding.health)},
                    {"found", finding.detail},
                    {"remedy", finding.remedy}});
    table.rows.push_back({finding.subject, to_string(finding.health), finding.detail});
    if (!finding.remedy.empty())
      remedies +=
          std::string(to_string(finding.health)) + ": " + visible(finding.subject + ": " + finding.remedy) + "\n";
  }
  const auto is_error = [](const Finding& finding) { return finding.health == Health::kError; };
  const bool broken = std::ranges::any_of(findings, is_error);
  if (arguments.json) {
    print(json_text(json));
  } else {
    print(table_text(table, style) + "\n" + style.text(remedies) +
          (broken ? "kymo is not usable on this machine\n" : "kymo is usable on this machine\n"));
  }
  return static_cast<int>(broken ? ExitCode::kToolError : ExitCode::kOk);
}

}  // namespace

void add_doctor(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* command =
      app.add_subcommand("doctor", "Check this machine for missing or misconfigured dependencies and suggest fixes");
  command->add_flag("--json", arguments->json, "print JSON");
  add_database_option(*command, arguments->database);
  session.on(*command, [arguments] { return doctor(*arguments); });
}

}  // namespace kymo::cli
