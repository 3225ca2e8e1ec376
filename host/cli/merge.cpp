// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "store/results.hpp"

namespace kymo::cli {
namespace {

using store::ResultsDatabase;
using Path = std::filesystem::path;

struct Arguments {
  Path target;
  std::vector<Path> sources;
};

int merge(const Arguments& arguments) {
  // Every source is opened before the target is made, so that a slip of the pen leaves nothing behind.
  for (const Path& source : arguments.sources) {
    if (!std::filesystem::exists(source)) throw UsageError("there is no database " + quote(source.string()));
    if (std::filesystem::exists(arguments.target) && std::filesystem::equivalent(source, arguments.target)) {
      throw UsageError("database " + quote(source.string()) + " cannot be merged into itself");
    }
    const ResultsDatabase readable(source, ResultsDatabase::Mode::kReadOnly);
  }
  ResultsDatabase target(arguments.target, ResultsDatabase::Mode::kCreate);
  for (const Path& source : arguments.sources) {
    const store::MergeReport report = target.merge(source);
    std::printf("%s: %lld runs of %lld invocations added, %lld were there already\n", source.c_str(),
                static_cast<long long>(report.runs_added), static_cast<long long>(report.invocations_added),
                static_cast<long long>(report.runs_already_there));
  }
  return 0;
}

}  // namespace

void add_merge(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("merge", "Adds the runs of databases to another one; what is there already is left alone");
  command->add_option("target", arguments->target, "database to add to; made if missing")->required()->type_name("TARGET");
  command->add_option("sources", arguments->sources, "databases to add")->required()->type_name("SOURCE");
  command->callback([&session, arguments] { session.action = [arguments] { return merge(*arguments); }; });
}

}  // namespace kymo::cli
