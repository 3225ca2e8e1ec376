// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/text.hpp"
#include "catalog/catalog.hpp"
#include "cli/commands.hpp"
#include "plan/option_text.hpp"
#include "terminal/print.hpp"

namespace kymo::cli {
namespace {

struct NewArguments {
  std::string name;
  std::filesystem::path parent = ".";
  bool python = false;
  std::string variant = "torch";
};

int make_python_file(const NewArguments& arguments) {
  const std::filesystem::path file =
      catalog::new_python_file(arguments.name, arguments.variant, arguments.parent).lexically_normal();
  print(visible(file.string()) + "\n");
  std::fprintf(stderr, "next: kymo run %s\n", visible(shell_word(file.string())).c_str());
  return 0;
}

int make_plugin(const NewArguments& arguments) {
  const std::filesystem::path folder = catalog::new_plugin(arguments.name, arguments.parent).lexically_normal();
  print(visible(folder.string()) + "\n");
  std::fprintf(stderr, "next: kymo build %s, then kymo run ./%s.so\n",
               visible(shell_word((folder / (arguments.name + ".cpp")).string())).c_str(), arguments.name.c_str());
  return 0;
}

}  // namespace

void add_new(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<NewArguments>();
  CLI::App* command = app.add_subcommand("new", "Create a folder with a template workload, or a Python file");
  command->add_option("name", arguments->name, "name of the workload")->required()->type_name("NAME");
  command->add_option("--in", arguments->parent, "parent folder")
      ->type_name("FOLDER")
      ->capture_default_str()
      ->check(error_if_empty);
  CLI::Option* python = command->add_flag("--python", arguments->python, "create the Python file NAME.py");
  command->add_option("--template", arguments->variant, "template of the Python file")
      ->type_name("torch|triton|ddp")
      ->capture_default_str()
      ->needs(python);
  session.on(*command,
             [arguments] { return arguments->python ? make_python_file(*arguments) : make_plugin(*arguments); });
}

}  // namespace kymo::cli
