// SPDX-License-Identifier: Apache-2.0
#include "cli/python_command.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <vector>

#include "base/error.hpp"
#include "base/installation.hpp"
#include "base/text.hpp"

namespace kymo::cli {

void add_interpreter_option(CLI::App& app, std::string& interpreter, const std::string& needed) {
  app.add_option("--python", interpreter, "interpreter with " + needed + " [that of VIRTUAL_ENV, else python3]")
      ->type_name("PROGRAM");
}

void run_python_command(const std::string& name, const Json& options, const std::string& interpreter) {
  std::vector<std::string> words{find_interpreter(interpreter).string(),
                                 (installation().python / "kymo_command.py").string(), name, options.dump()};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::fflush(nullptr);
  execv(argv.front(), argv.data());
  throw Error("cannot start " + quote(words.front()) + ": " + std::generic_category().message(errno));
}

}  // namespace kymo::cli
