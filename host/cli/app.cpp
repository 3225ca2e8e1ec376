// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/installation.hpp"
#include "base/json.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "cli/commands.hpp"
#include "plan/option_text.hpp"
#include "terminal/print.hpp"
#include "terminal/reading.hpp"

namespace kymo::cli {
namespace {

/// Returns the innermost command on the command line and stores its full name in `words`, such as "kymo suite run".
const CLI::App* innermost(const CLI::App& app, std::string& words) {
  const CLI::App* current = &app;
  words = app.get_name();
  while (!current->get_subcommands().empty()) {
    current = current->get_subcommands().front();
    words += " " + current->get_name();
  }
  return current;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
    names.push_back(command->get_name());
  }
  return names;
}

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

/// The word that a command does not know: an option if there is one, because its value then looks like an argument.
/// `own`: the words of the command line that are not arguments of a program. Empty if all are known.
std::string first_unknown(const CLI::App& app, const std::vector<std::string>& own, bool has_commands) {
  std::vector<std::string> unknown = app.remaining(true);
  std::erase_if(unknown, [&](const std::string& word) { return !contains(own, word); });
  const auto option = std::ranges::find_if(unknown, is_option);
  if (option != unknown.end() && !has_commands) return *option;
  return unknown.empty() ? "" : unknown.front();
}

UsageError unknown_command(const std::string& name, const std::string& words, const std::vector<std::string>& known) {
  return UsageError("unknown command " + quote(name) + " for '" + words + "'" + suggestion(name, known));
}

/// Translates a parse error of CLI11 into a one-line message.
[[noreturn]] void explain(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& own) {
  std::string words;
  const CLI::App* command = innermost(app, words);
  const std::vector<std::string> names = command_names(*command);
  if (const std::string rest = first_unknown(app, own, !names.empty()); !rest.empty()) {
    if (is_option(rest)) {
      const std::string name = rest.substr(0, rest.find('='));
      throw UsageError("unknown option " + quote(name) + " for '" + words + "'" +
                       suggestion(name, option_names(*command)));
    }
    if (!names.empty()) throw unknown_command(rest, words, names);
    throw UsageError("'" + words + "' takes no argument " + quote(rest));
  }
  if (!names.empty() && error.get_name() == "RequiredError")
    throw UsageError("'" + words + "' needs a command: " + join(names, ", "));
  std::string what = error.what();
  what = what.substr(0, what.find('\n'));
  throw UsageError(what + "; see '" + words + " --help'");
}

/// Help in the width of the terminal.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_name(), command->get_description());
  }
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return wrapped_lines(Formatter::make_help(app, std::move(name), mode), columns_);
  }

 private:
  std::string entry(std::string name, const std::string& description) const {
    static constexpr std::size_t kNameColumns = 32;
    name.resize(std::max(name.size() + 2, kNameColumns), ' ');
    return wrapped("  " + name, description, columns_, 2 + kNameColumns);
  }

  std::size_t columns_ = output_columns();
};

void add_commands(CLI::App& app, Session& session) {
  app.require_subcommand(1);
  app.set_version_flag("-v,--version", "kymo " + version());
  app.formatter(std::make_shared<HelpFormatter>());
  for (const auto add : kCommands) add(app, session);
}

int run_session(int argc, const char* const* argv) {
  Session session;
  // Every argument can end up in the database, in a message or in the JSON that workers receive.
  for (int index = 0; index < argc; ++index)
    if (valid_utf8(argv[index]) != argv[index])
      throw UsageError("argument " + std::to_string(index) + " is not valid UTF-8: " + quote(argv[index]));
  for (int index = 0; index < argc; ++index) session.command_line += (index > 0 ? " " : "") + shell_word(argv[index]);
  CLI::App app("Run and measure workloads from plugins, store the results in SQLite and generate reports.", "kymo");
  add_commands(app, session);
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words.front() == "help") {  // kymo help COMMAND
    if (!words.empty()) words.erase(words.begin());
    const std::vector<std::string> known = command_names(app);
    if (!words.empty() && !contains(known, words.front())) throw unknown_command(words.front(), app.get_name(), known);
    words.emplace_back("--help");
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // which CLI11 takes from the end
  } catch (const CLI::Success& asked) {                                 // --help, --version
    return app.exit(asked, std::cout, std::cerr);
  } catch (const CLI::ParseError& error) {
    words.erase(std::ranges::find(words, "--"), words.end());
    explain(app, error, words);
  }
  return session.action();
}

int report_error(const char* message, ExitCode code) {
  std::fflush(stdout);
  std::fprintf(stderr, "kymo: %s\n", visible(message).c_str());
  return static_cast<int>(code);
}

}  // namespace

void Session::on(CLI::App& command, std::function<int()> what) {
  command.callback([this, what = std::move(what)] { action = what; });
}

int run_command_line(int argc, const char* const* argv) {
  int code = 0;
  try {
    code = run_session(argc, argv);
  } catch (const Error& error) {
    return report_error(error.what(), error.code());
  } catch (const Json::exception& error) {  // "[json.exception.type_error.302] type must be number, but is string"
    const std::string text = error.what();
    return report_error(unexpected_value(text.substr(text.find(' ') + 1)).c_str(), ExitCode::kToolError);
  } catch (const std::out_of_range&) {  // an id that another table lacks
    return report_error(unexpected_value("a reference to nothing").c_str(), ExitCode::kToolError);
  } catch (const std::filesystem::filesystem_error& error) {  // "filesystem error: cannot ...: REASON [PATH]"
    const std::string reason = error.code().message();
    return report_error(("cannot use " + quote(error.path1().string()) + ": " + reason).c_str(), ExitCode::kToolError);
  } catch (const std::bad_alloc&) {
    return report_error("out of memory", ExitCode::kToolError);
  } catch (const std::exception& error) {
    return report_error(error.what(), ExitCode::kToolError);
  }
  std::cout.flush();
  // Exit with an error if redirected output could not be written, for example on a full disk. The exit code of a run
  // that ended because its terminal was closed stays.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return std::max(code, report_error("cannot write to standard output", ExitCode::kToolError));
  return code;
}

}  // namespace kymo::cli
