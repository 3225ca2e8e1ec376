// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "base/json.hpp"
#include "cli/commands.hpp"
#include "cli/python_command.hpp"
#include "cli/run_options.hpp"
#include "cli/typed_option.hpp"

namespace kymo::cli {
namespace {

struct McpArguments {
  std::filesystem::path database = "kymo.db";
  std::int64_t rows = 200;
  double seconds = 30;
  std::string interpreter;
};

}  // namespace

void add_mcp(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<McpArguments>();
  CLI::App* command = app.add_subcommand(
      "mcp", "Serve a results database to agents over the Model Context Protocol, read-only, on stdin and stdout");
  number_option(*command, "--rows", arguments->rows, 1, 100'000, "most rows of an answer [200]");
  seconds_option(*command, "--timeout", arguments->seconds, 0.001, 1e9, "stop a query after this time [30]");
  add_interpreter_option(*command, arguments->interpreter, "mcp");
  add_database_option(*command, arguments->database);
  command->footer("Example, in the configuration of an agent: kymo mcp --db /data/kymo.db");
  session.on(*command, [arguments]() -> int {
    run_python_command("mcp",
                       {{"database", std::filesystem::absolute(arguments->database).string()},
                        {"rows", arguments->rows},
                        {"seconds", arguments->seconds}},
                       arguments->interpreter);
  });
}

}  // namespace kymo::cli
