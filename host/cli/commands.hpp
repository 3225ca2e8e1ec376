// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

/// One function per command: it adds the command with its options to the application and, when the command line names
/// it, leaves in Session::action what is to be done. Nothing is done before the whole command line is understood.
namespace kymo::cli {

struct Session {
  std::string command_line;     ///< as stored with the results
  std::function<int()> action;  ///< returns the exit code
};

void add_list(CLI::App& app, Session& session);
void add_describe(CLI::App& app, Session& session);
void add_run(CLI::App& app, Session& session);
void add_suite(CLI::App& app, Session& session);
void add_report(CLI::App& app, Session& session);
void add_compare(CLI::App& app, Session& session);
void add_sql(CLI::App& app, Session& session);
void add_export(CLI::App& app, Session& session);
void add_merge(CLI::App& app, Session& session);
void add_verify(CLI::App& app, Session& session);
void add_doctor(CLI::App& app, Session& session);
void add_new(CLI::App& app, Session& session);
void add_build(CLI::App& app, Session& session);
/// `worker`, `describe-plugin` and `devices`: what the tool starts itself, shown by no help.
void add_hidden(CLI::App& app, Session& session);

}  // namespace kymo::cli
