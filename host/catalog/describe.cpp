// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <kymo_plugin.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "catalog/cache.hpp"
#include "catalog/catalog.hpp"
#include "catalog/refused.hpp"
#include "catalog/table.hpp"
#include "catalog/verify.hpp"

namespace kymo::catalog {
namespace {

std::string last_line(const std::string& text) {
  const auto lines = split(trim(text), '\n');
  return lines.empty() ? std::string() : lines.back();
}

/// Why a child that gave no answer gave none.
std::string complaint(const CommandResult& result, double deadline_s) {
  if (result.timed_out) return fmt::format("it did not describe itself within {} s", deadline_s);
  std::string reason = "it ended while it described itself: " + result.end.describe();
  if (const std::string said = last_line(result.stderr_text); !said.empty()) reason += "; it said " + quote(said);
  return reason;
}

Plugin ask_child(const PluginFile& file, double deadline_s) {
  SpawnOptions options;
  options.command = {own_executable().string(), "describe-plugin", file.file.string()};
  options.environment = loader_environment(file);
  const CommandResult result = run_command(options, deadline_s);
  if (result.timed_out || trim(result.stdout_text).empty()) throw Refused(file.file, complaint(result, deadline_s));
  Json answer;
  try {
    answer = parse_json(result.stdout_text, "its description");
  } catch (const Error&) {
    throw Refused(file.file, complaint(result, deadline_s));
  }
  if (answer.is_object() && answer.contains("error")) {
    std::string reason = answer["error"].is_string() ? answer["error"].get<std::string>() : "it cannot be described";
    if (const std::string said = last_line(result.stderr_text); !said.empty()) reason += "; it said " + quote(said);
    throw Refused(file.file, reason);
  }
  return plugin_from_json(answer);
}

/// Takes standard output away from the plugin: what it prints while it is loaded must not mix with the answer.
int take_stdout() {
  std::fflush(stdout);
  const int answer_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (answer_fd < 0 || nothing < 0 || dup2(nothing, STDOUT_FILENO) < 0) throw Error("cannot set standard output aside");
  close(nothing);
  return answer_fd;
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string description_of(const std::filesystem::path& file) {
  Plugin plugin = plugin_from_table(*static_cast<const kymo_plugin*>(load_plugin(file)));
  try {
    return to_json(plugin).dump();
  } catch (const Json::exception&) {
    throw Refused(file, "a text of its description is not UTF-8");
  }
}

}  // namespace

Plugin describe_file(const std::filesystem::path& file, const Options& options) {
  const PluginFile identity = identify(file, options.trust);
  const Json stamp = cache_stamp(identity.file);
  if (auto known = read_cached(identity.file, stamp)) {
    const std::string hash = known->file.sha256;
    known->file = identity;
    known->file.sha256 = hash;
    return *known;
  }
  Plugin plugin = ask_child(identity, options.describe_deadline_s);
  plugin.file = identity;
  plugin.file.sha256 = sha256_of_file(identity.file);
  if (cache_stamp(identity.file) == stamp) write_cached(plugin, stamp);  // else it was replaced meanwhile
  return plugin;
}

int describe_in_this_process(const std::filesystem::path& file) {
  int code = static_cast<int>(ExitCode::kOk);
  const int answer_fd = take_stdout();
  std::string answer;
  try {
    answer = description_of(file);
  } catch (const Refused& refused) {
    answer = Json{{"error", refused.reason()}}.dump(-1, ' ', false, Json::error_handler_t::replace);
    code = static_cast<int>(ExitCode::kToolError);
  } catch (const std::exception& problem) {
    answer = Json{{"error", problem.what()}}.dump(-1, ' ', false, Json::error_handler_t::replace);
    code = static_cast<int>(ExitCode::kToolError);
  }
  write_all(answer_fd, answer + "\n");
  _exit(code);  // exit handlers of the plugin's libraries could still crash or hang; the answer is given
}

}  // namespace kymo::catalog
