// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "catalog/catalog.hpp"
#include "cli/commands.hpp"
#include "cli/regex.hpp"

namespace kymo::cli {
namespace {

using Path = std::filesystem::path;

bool includes_torch(const std::string& source) {
  static const Regex pattern("kymo build", R"(^[ \t]*#[ \t]*include[ \t]*[<"](torch|ATen|c10|kymo/torch)[/.])");
  const std::vector<std::string> lines = split(source, '\n');
  return std::ranges::any_of(lines, [](const std::string& line) { return pattern.found_in(line); });
}

int build(const Path& source) {
  if (source.extension() != ".cpp" && source.extension() != ".cc") {
    throw UsageError("'kymo build' takes one C++ source (.cpp), not " + quote(source.string()) +
                     "; for several sources, use CMake and kymo_add_plugin");
  }
  std::error_code ignored;  // an unreadable path is treated as missing
  if (!std::filesystem::is_regular_file(source, ignored))
    throw UsageError("no such source file: " + quote(source.string()));
  const Path plugin = catalog::build_plugin_file(source, includes_torch(read_file(source)));
  catalog::Options trusting;
  trusting.trust = true;  // kymo created the file itself; a world-writable folder is reported when the plugin is run
  catalog::describe_file(plugin, trusting);  // fail the build if the plugin cannot be used
  std::printf("%s\n", visible(plugin.string()).c_str());
  return 0;
}

}  // namespace

void add_build(CLI::App& app, Session& session) {
  auto source = std::make_shared<Path>();
  CLI::App* command = app.add_subcommand(
      "build", "Compile one C++ source into a plugin, ./NAME.so; link LibTorch if the source includes it");
  command->add_option("file", *source, "source file; the plugin gets its name")->required()->type_name("FILE");
  command->callback([&session, source] { session.action = [source] { return build(*source); }; });
}

}  // namespace kymo::cli
