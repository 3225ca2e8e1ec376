// SPDX-License-Identifier: Apache-2.0
#include "cli/export_formats.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "base/json.hpp"
#include "cli/python_command.hpp"
#include "cli/run_options.hpp"
#include "cli/typed_option.hpp"
#include "plan/option_text.hpp"
#include "terminal/reading.hpp"

namespace kymo::cli {
namespace {

using Path = std::filesystem::path;

struct FormatArguments {
  std::vector<Path> databases;
  Path database = "kymo.db";
  Path folder;  ///< of Parquet files
  Path out;
  std::optional<std::int64_t> run;
  std::string name;  ///< of the project or experiment
  std::string interpreter;
  bool replace = false;
};

std::string existing(const Path& database) {
  require_database(database);
  return database.string();
}

void add_parquet(CLI::App& command, Session& session) {
  const auto arguments = std::make_shared<FormatArguments>();
  CLI::App* format = command.add_subcommand(
      "parquet", "Write the tables of databases as Parquet files, in a folder per machine and database");
  format->add_option("databases", arguments->databases, "databases")
      ->required()
      ->type_name("DB")
      ->check(error_if_empty);
  format->add_option("-o,--out", arguments->out, "folder; databases can be added to it")
      ->required()
      ->type_name("DIR")
      ->check(error_if_empty);
  format->add_flag("--replace", arguments->replace, "replace what was exported from the same databases before");
  add_interpreter_option(*format, arguments->interpreter, "pyarrow");
  format->footer("Example: kymo export parquet node*/kymo.db -o results");
  session.on(*format, [arguments]() -> int {
    Json databases = Json::array();
    for (const Path& database : arguments->databases) databases.push_back(existing(database));
    run_python_command("parquet",
                       {{"databases", databases}, {"out", arguments->out.string()}, {"replace", arguments->replace}},
                       arguments->interpreter);
  });
}

void add_duckdb(CLI::App& command, Session& session) {
  const auto arguments = std::make_shared<FormatArguments>();
  arguments->out = "results.duckdb";
  CLI::App* format = command.add_subcommand(
      "duckdb", "Write a DuckDB database with the tables and views of all databases in a folder of Parquet files");
  format->add_option("folder", arguments->folder, "folder that 'kymo export parquet' filled")
      ->required()
      ->type_name("DIR")
      ->check(error_if_empty);
  format->add_option("-o,--out", arguments->out, "file; replaced if it exists [results.duckdb]")
      ->type_name("FILE")
      ->check(error_if_empty);
  add_interpreter_option(*format, arguments->interpreter, "duckdb and sqlglot");
  format->footer(
      "Tables of runs are views of the files in DIR, which must stay where it is. Lists the views that DuckDB does "
      "not\n"
      "run, with the reasons.\n"
      "Example: kymo export duckdb results -o results.duckdb");
  session.on(*format, [arguments]() -> int {
    run_python_command("duckdb", {{"folder", arguments->folder.string()}, {"file", arguments->out.string()}},
                       arguments->interpreter);
  });
}

/// A format of one or all current runs of a database.
struct RunFormat {
  const char* name;
  const char* what;
  const char* package;  ///< that writes it, or empty
  const char* out;      ///< default of --out
  const char* out_type;
  const char* out_help;
  const char* name_option;  ///< of the project or experiment, or empty
  const char* footer;
};

constexpr RunFormat kRunFormats[] = {
    {"wandb", "Write the summary, tables and figures of a run as an offline run of Weights & Biases", "wandb", ".",
     "DIR", "folder that gets the folder wandb [.]", "--project",
     "Nothing is uploaded: run 'wandb sync' on the written folder.\n"
     "Example: kymo export wandb --run 3 --project attention"},
    {"mlflow", "Write the summary, tables and figures of a run to an MLflow tracking store", "mlflow-skinny", "mlruns",
     "STORE", "folder or URI of the tracking store [mlruns]", "--experiment",
     "Example: kymo export mlflow --run 3 -o http://tracking.example:5000"},
    {"tensorboard", "Write the summary, step times and tables of a run as TensorBoard event files", "tensorboard",
     "runs", "DIR", "log folder that gets a folder of the run [runs]", "",
     "Example: kymo export tensorboard --run 3; tensorboard --logdir runs"},
    {"hud-json", "Write runs in the format of PyTorch's benchmark database (benchmark results v3)", "", "-", "FILE",
     "file, - for standard output [-]", "", "Example: kymo export hud-json -o benchmark_results.json"},
};

void add_run_format(CLI::App& command, Session& session, const RunFormat& which) {
  const auto arguments = std::make_shared<FormatArguments>();
  arguments->out = which.out;
  arguments->name = "kymo";
  CLI::App* format = command.add_subcommand(which.name, which.what);
  const bool has_package = *which.package != '\0';
  number_option(*format, "--run", arguments->run, 1, kAnyNumber,
                has_package ? "id of the run [the newest run]" : "only this run [the newest run of each plan]");
  format->add_option("-o,--out", arguments->out, which.out_help)->type_name(which.out_type)->check(error_if_empty);
  if (*which.name_option != '\0')
    format->add_option(which.name_option, arguments->name, "name in the tracker [kymo]")
        ->type_name("NAME")
        ->check(error_if_empty);
  add_interpreter_option(*format, arguments->interpreter, has_package ? which.package : "Python 3.10 or later");
  add_database_option(*format, arguments->database);
  format->footer(which.footer);
  const std::string name = which.name;
  session.on(*format, [arguments, name]() -> int {
    run_python_command(name == "hud-json" ? "hud_json" : name,
                       {{"database", existing(arguments->database)},
                        {"run", arguments->run ? Json(*arguments->run) : Json()},
                        {"out", arguments->out.string()},
                        {"name", arguments->name}},
                       arguments->interpreter);
  });
}

}  // namespace

void add_python_formats(CLI::App& command, Session& session) {
  add_parquet(command, session);
  add_duckdb(command, session);
  for (const RunFormat& format : kRunFormats) add_run_format(command, session, format);
}

}  // namespace kymo::cli
