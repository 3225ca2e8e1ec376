// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/text.hpp"
#include "catalog/catalog.hpp"
#include "cli/commands.hpp"
#include "plan/option_text.hpp"

namespace kymo::cli {
namespace {

struct BuildArguments {
  std::vector<std::string> sources, includes, definitions, folders, libraries;
  bool verbose = false;
};

int build(const BuildArguments& arguments) {
  catalog::BuildRequest request;
  request.sources.assign(arguments.sources.begin(), arguments.sources.end());
  for (const std::string& folder : arguments.includes) request.compile_flags.push_back("-I" + folder);
  for (const std::string& definition : arguments.definitions) request.compile_flags.push_back("-D" + definition);
  for (const std::string& folder : arguments.folders) request.link_flags.push_back("-L" + folder);
  for (const std::string& library : arguments.libraries) request.link_flags.push_back("-l" + library);
  // The compiler is the user's own: its messages, with their colors and line breaks, reach the terminal unchanged.
  request.on_output = [](const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); };
  if (arguments.verbose) {
    request.on_command = [](const std::vector<std::string>& command) {
      std::vector<std::string> words;
      for (const std::string& word : command) words.push_back(shell_word(word));
      std::fprintf(stderr, "%s\n", visible(join(words, " ")).c_str());
    };
  }
  const std::filesystem::path plugin = catalog::build_plugin_file(request);
  catalog::Options trusting;
  trusting.trust = true;  // kymo created the file itself; a world-writable folder is reported when the plugin is run
  catalog::describe_file(plugin, trusting);  // fail the build if the plugin cannot be used
  std::printf("%s\n", visible(plugin.string()).c_str());
  return 0;
}

}  // namespace

void add_build(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<BuildArguments>();
  CLI::App* command =
      app.add_subcommand("build", "Compile C++ and CUDA sources into a plugin, ./NAME.so; link what they include");
  command->add_option("file", arguments->sources, "sources (.cpp, .cu); the plugin gets the name of the first")
      ->required()
      ->type_name("FILE");
  const auto add_list = [&](const char* name, std::vector<std::string>& list, const char* type, const char* help) {
    command->add_option(name, list, help)->type_name(type)->allow_extra_args(false);
  };
  add_list("-I", arguments->includes, "FOLDER", "search headers in this folder; may be repeated");
  add_list("-D", arguments->definitions, "NAME[=VALUE]", "define a macro; may be repeated");
  add_list("-L", arguments->folders, "FOLDER", "search libraries in this folder; may be repeated");
  add_list("-l", arguments->libraries, "LIBRARY", "link a library; may be repeated");
  command->add_flag("--verbose", arguments->verbose, "print the commands");
  command->footer(
      "LibTorch (<torch/...>, <ATen/...>, <c10/...>), kymo::comm (<kymo/communicator.hpp>) and the CUDA runtime are "
      "linked if the sources include them. CXX selects the compiler, CUDA_HOME the CUDA toolkit and KYMO_TORCH the "
      "LibTorch.\n"
      "Example: kymo build my_kernel.cpp kernels.cu -I include -l m");
  session.on(*command, [arguments] { return build(*arguments); });
}

}  // namespace kymo::cli
