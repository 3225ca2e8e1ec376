// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <string>

namespace CLI {
class App;
}

/// One function per command. It adds the command and its options to the application. Parsing the command sets
/// Session::action; nothing runs before the whole command line has been parsed.
namespace kymo::plan {}
namespace kymo::terminal {}
namespace kymo::cli {
using namespace plan;
using namespace terminal;

struct Session {
  std::string command_line;     ///< as stored with the results
  std::function<int()> action;  ///< returns the exit code

  /// Sets the action if the command is parsed.
  void on(CLI::App& command, std::function<int()> what);
};

void add_list(CLI::App& app, Session& session);
void add_describe(CLI::App& app, Session& session);
void add_run(CLI::App& app, Session& session);
void add_trace(CLI::App& app, Session& session);
void add_observe(CLI::App& app, Session& session);
void add_suite(CLI::App& app, Session& session);
void add_jobs(CLI::App& app, Session& session);
/// `runs`, `show` and `log`.
void add_show(CLI::App& app, Session& session);
void add_ab(CLI::App& app, Session& session);
void add_report(CLI::App& app, Session& session);
void add_compare(CLI::App& app, Session& session);
void add_history(CLI::App& app, Session& session);
/// `bisect`, and the hidden `bisect-step`, which `git bisect run` starts.
void add_bisect(CLI::App& app, Session& session);
void add_sql(CLI::App& app, Session& session);
void add_export(CLI::App& app, Session& session);
void add_merge(CLI::App& app, Session& session);
void add_mcp(CLI::App& app, Session& session);
void add_verify(CLI::App& app, Session& session);
void add_peaks(CLI::App& app, Session& session);
void add_fit(CLI::App& app, Session& session);
void add_doctor(CLI::App& app, Session& session);
void add_new(CLI::App& app, Session& session);
void add_build(CLI::App& app, Session& session);
/// `completion`, and `complete`, which its scripts call.
void add_completion(CLI::App& app, Session& session);
/// `worker`, `describe-plugin`, `torch-folder` and `devices`: internal commands; hidden from the help.
void add_hidden(CLI::App& app, Session& session);

/// All commands, in the order of the help.
inline constexpr std::array kCommands{
    add_list,   add_describe, add_run,     add_trace,  add_observe, add_suite,      add_jobs,   add_show, add_ab,
    add_report, add_compare,  add_history, add_bisect, add_sql,     add_export,     add_merge,  add_mcp,  add_verify,
    add_peaks,  add_fit,      add_doctor,  add_new,    add_build,   add_completion, add_hidden,
};

/// Parses the command line, runs the command and returns the exit code. Errors are printed as one line on stderr.
int run_command_line(int argc, const char* const* argv);

}  // namespace kymo::cli
