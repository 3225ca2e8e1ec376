// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <kymo_plugin.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "catalog/catalog.hpp"
#include "catalog/plugin_file.hpp"

namespace kymo::catalog {
namespace {

std::string last_line(const std::string& text) {
  const auto lines = split(trim(text), '\n');
  return lines.empty() ? std::string() : lines.back();
}

/// The reason why the child process gave no answer.
std::string failure_reason(const CommandResult& result, double deadline_s) {
  if (result.timed_out) return fmt::format("describing it did not finish within {} s", deadline_s);
  std::string reason = "describing it failed: " + result.end.describe();
  if (const std::string last_output = last_line(result.stderr_text); !last_output.empty())
    reason += "; last output: " + quote(last_output);
  return reason;
}

/// The process that loads the file and prints its description as JSON.
SpawnOptions describing_process(const PluginFile& file) {
  SpawnOptions options;
  if (file.interpreter.empty()) {
    options.command = {own_executable().string(), "describe-plugin"};
    options.environment = loader_environment(file);
  } else {
    options.command = python_worker_command(file.interpreter);
    options.command.push_back("describe");
  }
  options.command.push_back(file.file.string());
  return options;
}

Plugin ask_child(const PluginFile& file, double deadline_s) {
  const CommandResult result = run_command(describing_process(file), deadline_s);
  if (result.timed_out || trim(result.stdout_text).empty())
    throw PluginRejected(file.file, failure_reason(result, deadline_s));
  Json answer;
  try {
    answer = parse_json(result.stdout_text, "its description");
  } catch (const Error&) {
    throw PluginRejected(file.file, failure_reason(result, deadline_s));
  }
  if (answer.is_object() && answer.contains("error")) {
    std::string reason = answer["error"].is_string() ? answer["error"].get<std::string>() : "it could not be described";
    if (const std::string last_output = last_line(result.stderr_text); !last_output.empty())
      reason += "; last output: " + quote(last_output);
    throw PluginRejected(file.file, reason);
  }
  if (file.interpreter.empty()) return plugin_from_json(answer);
  try {
    answer["interpreter"] = file.interpreter;
    Plugin plugin = plugin_from_json(answer);
    check_python_description(plugin, file);
    return plugin;
  } catch (const Error& error) {
    throw PluginRejected(file.file, error.what());
  }
}

/// Redirects standard output, so that output of the plugin during loading does not mix with the answer.
int take_stdout() {
  std::fflush(stdout);
  const int answer_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (answer_fd < 0 || nothing < 0 || dup2(nothing, STDOUT_FILENO) < 0) throw Error("cannot redirect standard output");
  close(nothing);
  return answer_fd;
}

/// Libraries of the plugin's own folder that this process has loaded. The parent computes their hashes.
std::map<std::string, std::string> libraries_next_to(const std::filesystem::path& file) {
  std::vector<std::filesystem::path> loaded;
  const auto collect = [](dl_phdr_info* library, std::size_t, void* files) {
    std::error_code failed;
    auto real = std::filesystem::canonical(library->dlpi_name, failed);
    if (!failed) static_cast<std::vector<std::filesystem::path>*>(files)->push_back(std::move(real));
    return 0;
  };
  dl_iterate_phdr(collect, &loaded);
  std::map<std::string, std::string> libraries;
  for (const auto& library : loaded)
    if (library != file && library.parent_path() == file.parent_path())
      libraries.emplace(library.filename().string(), "");
  return libraries;
}

std::string description_of(const std::filesystem::path& file) {
  Plugin plugin = plugin_from_table(*static_cast<const kymo_plugin*>(load_plugin(file)));
  plugin.file.libraries = libraries_next_to(file);
  try {
    return to_json(plugin).dump();
  } catch (const Json::exception&) {
    throw PluginRejected(file, "its description contains text that is not UTF-8");
  }
}

/// Sets the file's current identity and the hash of its content. What a Python file depends on is known only from its
/// description.
void take_identity(Plugin& plugin, const PluginFile& identity, std::string sha256) {
  auto libraries = std::move(plugin.file.libraries);
  if (identity.interpreter.empty()) {
    plugin.file = identity;
  } else {
    plugin.file.file = identity.file;
    plugin.file.interpreter = identity.interpreter;
  }
  plugin.file.sha256 = std::move(sha256);
  plugin.file.libraries = std::move(libraries);
}

constexpr int kCacheFormat = 4;

/// One entry per path and interpreter, so that rebuilding a plugin does not fill the folder.
std::filesystem::path entry_for(const PluginFile& file) {
  const std::string key = file.file.string() + (file.interpreter.empty() ? "" : "\n" + file.interpreter.string());
  return cache_folder() / "plugins" / (sha256(key).substr(0, 32) + ".json");
}

/// State of the file that a cached description belongs to: path, size, times and the kymo version.
Json cache_stamp(const std::filesystem::path& file) {
  struct stat facts{};
  if (stat(file.c_str(), &facts) != 0)
    throw PluginRejected(file, std::string("cannot read its status: ") + std::strerror(errno));
  const auto nanoseconds = [](const timespec& time) {
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
  };
  // The change time detects a replaced file with a preserved modification time.
  return {{"format", kCacheFormat},
          {"kymo", version()},
          {"file", file.string()},
          {"size_bytes", facts.st_size},
          {"modified_ns", nanoseconds(facts.st_mtim)},
          {"changed_ns", nanoseconds(facts.st_ctim)}};
}

/// The same for each file that the description depends on: the libraries loaded from the plugin's folder, by name, and
/// the interpreter and torch of a Python file.
Json dependency_stamps(const PluginFile& file) {
  Json stamps = Json::object();
  for (const auto& [name, hash] : file.libraries) stamps[name] = cache_stamp(file.file.parent_path() / name);
  if (!file.interpreter.empty()) stamps["interpreter"] = cache_stamp(file.interpreter);
  if (!file.torch.empty()) stamps["torch"] = cache_stamp(file.torch / "version.py");
  return stamps;
}

/// The cached description for exactly this state of the file and of its libraries; nullopt if there is none or if the
/// entry is damaged.
std::optional<Plugin> read_cached(const PluginFile& file, const Json& stamp) {
  try {
    const auto entry = entry_for(file);
    if (!std::filesystem::exists(entry)) return std::nullopt;
    const Json json = parse_json(read_file(entry), entry.string());
    if (!json.is_object() || !json.contains("stamp") || json["stamp"] != stamp || !json.contains("plugin"))
      return std::nullopt;
    Plugin plugin = plugin_from_json(json["plugin"]);
    if (plugin.workloads.empty() || plugin.file.sha256.size() != 64) return std::nullopt;
    plugin.file.file = file.file;
    if (!json.contains("dependencies") || json["dependencies"] != dependency_stamps(plugin.file)) return std::nullopt;
    return plugin;
  } catch (const std::exception& problem) {
    log::debug(std::string("ignoring a cached description: ") + problem.what());
    return std::nullopt;
  }
}

/// Caches a description with the stamps of the file and of its dependencies. Failure only costs time, so it is only
/// logged.
void write_cached(const Plugin& plugin, const Json& stamp, const Json& dependencies) {
  try {
    const auto entry = entry_for(plugin.file);
    std::filesystem::create_directories(entry.parent_path());
    write_file(entry, Json{{"stamp", stamp}, {"dependencies", dependencies}, {"plugin", to_json(plugin)}}.dump());
  } catch (const std::exception& problem) {
    log::debug(std::string("could not cache a description: ") + problem.what());
  }
}

}  // namespace

Plugin describe_file(const std::filesystem::path& file, const Options& options) {
  const bool python = is_python_file(file);
  const PluginFile identity = python ? verify_python_file(file, options) : verify_file(file, options.trust);
  const Json stamp = cache_stamp(identity.file);
  if (auto known = read_cached(identity, stamp)) {
    take_identity(*known, identity, std::string(known->file.sha256));
    return *known;
  }
  Plugin plugin = ask_child(identity, python ? options.describe_python_deadline_s : options.describe_deadline_s);
  take_identity(plugin, identity, sha256_of_file(identity.file));
  const Json dependencies = dependency_stamps(plugin.file);
  for (auto& [name, hash] : plugin.file.libraries) hash = sha256_of_file(identity.file.parent_path() / name);
  const bool unchanged = cache_stamp(identity.file) == stamp && dependency_stamps(plugin.file) == dependencies;
  if (unchanged) write_cached(plugin, stamp, dependencies);  // otherwise a file was replaced in the meantime
  return plugin;
}

int describe_in_this_process(const std::filesystem::path& file) {
  int code = static_cast<int>(ExitCode::kOk);
  const int answer_fd = take_stdout();
  std::string answer;
  try {
    answer = description_of(file);
  } catch (const PluginRejected& rejection) {
    answer = dump_json(Json{{"error", rejection.reason()}});
    code = static_cast<int>(ExitCode::kToolError);
  } catch (const std::exception& problem) {
    answer = dump_json(Json{{"error", problem.what()}});
    code = static_cast<int>(ExitCode::kToolError);
  }
  write_all(answer_fd, answer + "\n");
  _exit(code);  // the answer is complete; skip exit handlers of the plugin's libraries, which could crash or hang
}

}  // namespace kymo::catalog
