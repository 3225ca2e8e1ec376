// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.hpp"

namespace CLI {
class App;
}

namespace kymo::cli {

/// --python, of a command that is implemented in Python. `needed`: what the interpreter must have.
void add_interpreter_option(CLI::App& app, std::string& interpreter, const std::string& needed);

/// Runs a command that is implemented in Python: the function `main` of the module kymo_commands.NAME, with the parsed
/// options as one JSON object. It replaces this process, so that the command receives its signals and has its terminal.
/// `interpreter`: as chosen with --python, or empty. Throws UsageError or Error if there is no interpreter.
[[noreturn]] void run_python_command(const std::string& name, const Json& options, const std::string& interpreter);

}  // namespace kymo::cli
