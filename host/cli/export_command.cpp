// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <memory>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/export_formats.hpp"
#include "cli/run_options.hpp"
#include "export/export.hpp"
#include "plan/option_text.hpp"
#include "terminal/print.hpp"
#include "terminal/reading.hpp"

namespace kymo::cli {
namespace {

using exports::Written;

struct ExportArguments {
  exports::CsvRequest request;
  std::filesystem::path file;
  std::filesystem::path database = "kymo.db";
};

/// Prints the paths of the written files to stdout, unless the file itself goes there, and notes to stderr.
int print_written(const std::vector<Written>& written) {
  for (const Written& each : written) {
    if (each.file != "-") print(visible(each.file.string()) + "\n");
    for (const std::string& note : each.notes)
      std::fprintf(stderr, "%s: %s\n", visible(each.file.string()).c_str(), visible(note).c_str());
  }
  return 0;
}

CLI::App* add_format(CLI::App& command, Session& session, const std::string& name, const std::string& what,
                     const std::string& file_help, const std::shared_ptr<ExportArguments>& arguments,
                     std::vector<Written> (*write)(const ExportArguments&)) {
  CLI::App* format = command.add_subcommand(name, what);
  exports::Choice& choice = arguments->request.choice;
  number_option(*format, "--run", choice.run, 1, kAnyNumber,
                name == "csv" ? "only rows of this run" : "id of the run [the newest run that has the events]");
  number_option(*format, "--rank", choice.rank, 0, kAnyNumber,
                name == "csv" ? "only rows of this rank" : "only this rank [all ranks, one file each]");
  format->add_option("-o,--out", arguments->file, file_help)->type_name("FILE")->check(error_if_empty);
  add_database_option(*format, arguments->database);
  session.on(*format, [arguments, write] { return print_written(write(*arguments)); });
  return format;
}

}  // namespace

void add_export(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("export", "Export events or tables of a database to other formats");
  command->require_subcommand(1);
  const auto arguments = std::make_shared<ExportArguments>();
  CLI::App* perfetto = add_format(
      *command, session, "perfetto", "Write a trace for ui.perfetto.dev, chrome://tracing and Holistic Trace Analysis",
      "file, - for standard output [trace-runN-rankN.json]", arguments, [](const ExportArguments& given) {
        return exports::export_perfetto(*open_results(given.database), given.request.choice, given.file);
      });
  perfetto
      ->add_option("--pass", arguments->request.choice.pass,
                   "trace, ops or memory [the first of these with kernels or operators]")
      ->type_name("PASS");
  perfetto->footer(
      "If the pass recorded the arguments of operators (--trace-detail shapes), counters show the FLOP/s and bytes/s "
      "of\n"
      "those whose work is known, at the times of their kernels, or of their calls if there are no kernels.\n"
      "Example: kymo export perfetto --run 3 --rank 0 -o step.json");
  CLI::App* memory = add_format(
      *command, session, "memory-viz", "Write a memory snapshot for pytorch.org/memory_viz and torch.cuda._memory_viz",
      "file, - for standard output [memory-runN-rankN.pickle]", arguments, [](const ExportArguments& given) {
        return exports::export_memory_viz(*open_results(given.database), given.request.choice, given.file);
      });
  memory->footer("Example: kymo export memory-viz --run 3 -o snapshot.pickle");
  CLI::App* csv = add_format(
      *command, session, "csv", "Write a table, a view or the result of a query as CSV",
      "file, - for standard output [-]", arguments, [](const ExportArguments& given) {
        return std::vector<Written>{exports::export_csv(*open_results(given.database), given.request, given.file)};
      });
  csv->add_option("--pass", arguments->request.choice.pass, "only rows of this pass")->type_name("PASS");
  CLI::Option* table = csv->add_option("--table", arguments->request.table, "table or view")->type_name("NAME");
  csv->add_option("--query", arguments->request.query, "one SELECT")->type_name("SQL")->excludes(table);
  csv->footer("Example: kymo export csv --table kernel --run 3 -o kernels.csv");
  add_python_formats(*command, session);
}

}  // namespace kymo::cli
