// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "plan/option_text.hpp"
#include "store/results.hpp"
#include "terminal/print.hpp"
#include "terminal/reading.hpp"

namespace kymo::cli {
namespace {

using store::ResultsDatabase;
using Path = std::filesystem::path;

struct MergeArguments {
  Path target;
  std::vector<Path> sources;
};

int merge(const MergeArguments& arguments) {
  // Open every source before creating the target, so that a mistyped path leaves no empty database behind.
  for (const Path& source : arguments.sources) {
    require_database(source);
    std::error_code ignored;  // an unreadable file is reported when it is opened
    if (std::filesystem::equivalent(source, arguments.target, ignored)) {
      throw UsageError("database " + quote(source.string()) + " cannot be merged into itself");
    }
    const ResultsDatabase readable(source, ResultsDatabase::Mode::kReadOnly);
  }
  ResultsDatabase target(arguments.target, ResultsDatabase::Mode::kCreate);
  for (const Path& source : arguments.sources) {
    const store::MergeReport report = target.merge(source);
    std::printf("%s: %lld runs of %lld invocations added, %lld already present\n", visible(source.string()).c_str(),
                static_cast<long long>(report.runs_added), static_cast<long long>(report.invocations_added),
                static_cast<long long>(report.runs_already_there));
  }
  return 0;
}

}  // namespace

void add_merge(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<MergeArguments>();
  CLI::App* command =
      app.add_subcommand("merge", "Add the runs of databases to another database; skip runs that are already present");
  command->add_option("target", arguments->target, "target database; created if missing")
      ->required()
      ->type_name("TARGET")
      ->check(error_if_empty);
  command->add_option("sources", arguments->sources, "databases to add")
      ->required()
      ->type_name("SOURCE")
      ->check(error_if_empty);
  session.on(*command, [arguments] { return merge(*arguments); });
}

}  // namespace kymo::cli
