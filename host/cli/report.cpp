// SPDX-License-Identifier: Apache-2.0
#include "report/report.hpp"

#include <CLI/CLI.hpp>
#include <limits>
#include <memory>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/reading.hpp"
#include "cli/run_options.hpp"
#include "cli/text_table.hpp"

namespace kymo::cli {
namespace {

struct ReportArguments {
  report::Request request;
  std::filesystem::path database = "kymo.db";
};

std::vector<std::string> formats_from(const std::string& text) {
  std::vector<std::string> formats;
  for (const std::string& word : split(text, ',')) formats.push_back(trim(word));
  return formats;
}

int make_report(const ReportArguments& arguments) {
  if (arguments.request.name.empty()) {
    for (const std::string& name : report::list_reports()) print(visible(name) + "\n");
    return 0;
  }
  const auto database = open_results(arguments.database);
  for (const auto& file : report::make_report(*database, arguments.request)) print(visible(file.string()) + "\n");
  return 0;
}

}  // namespace

void add_report(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<ReportArguments>();
  report::Request& request = arguments->request;
  request.out_folder = "report";
  request.formats = {"markdown", "html"};
  CLI::App* command = app.add_subcommand("report", "Generate a report from a results database");
  command->add_option("report", request.name, "name, or a folder with report.toml; if omitted, list the names")
      ->type_name("REPORT");
  command->add_option("--out", request.out_folder, "output folder")
      ->type_name("FOLDER")
      ->capture_default_str()
      ->check(error_if_empty);
  command
      ->add_option_function<std::string>(
          "--format", [arguments](const std::string& text) { arguments->request.formats = formats_from(text); },
          "formats to write: any of " + join(report::known_formats(), ", ") + " [markdown,html]")
      ->type_name("LIST");
  command->add_option("--label", request.selection.label, "only runs with this label")->type_name("TEXT");
  command
      ->add_option_function<std::string>(
          "--invocation",
          [arguments](const std::string& text) {
            arguments->request.selection.invocation_id =
                whole_number("--invocation", text, 1, std::numeric_limits<std::int64_t>::max());
          },
          "only the runs of this invocation")
      ->type_name("N");
  command->add_option("--suite", request.selection.suite, "only runs of this suite")->type_name("NAME");
  add_database_option(*command, arguments->database);
  command->footer("Example: kymo report quick --format markdown,latex,typst,html --out out");
  session.on(*command, [arguments] { return make_report(*arguments); });
}

}  // namespace kymo::cli
