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

Plugin ask_child(const PluginFile& file, double deadline_s) {
  SpawnOptions options;
  options.command = {own_executable().string(), "describe-plugin", file.file.string()};
  options.environment = loader_environment(file);
  const CommandResult result = run_command(options, deadline_s);
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
  return plugin_from_json(answer);
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

/// Sets the file's current identity and the hash of its content.
void take_identity(Plugin& plugin, const PluginFile& identity, std::string sha256) {
  auto libraries = std::move(plugin.file.libraries);
  plugin.file = identity;
  plugin.file.sha256 = std::move(sha256);
  plugin.file.libraries = std::move(libraries);
}

constexpr int kCacheFormat = 3;

/// One entry per path, so that rebuilding a plugin does not fill the folder.
std::filesystem::path entry_for(const std::filesystem::path& file) {
  return cache_folder() / "plugins" / (sha256(file.string()).substr(0, 32) + ".json");
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

/// The same for each library loaded from the plugin's folder, by name.
Json library_stamps(const Plugin& plugin, const std::filesystem::path& folder) {
  Json stamps = Json::object();
  for (const auto& [name, hash] : plugin.file.libraries) stamps[name] = cache_stamp(folder / name);
  return stamps;
}

/// The cached description for exactly this state of the file and of its libraries; nullopt if there is none or if the
/// entry is damaged.
std::optional<Plugin> read_cached(const std::filesystem::path& file, const Json& stamp) {
  try {
    const auto entry = entry_for(file);
    if (!std::filesystem::exists(entry)) return std::nullopt;
    const Json json = parse_json(read_file(entry), entry.string());
    if (!json.is_object() || !json.contains("stamp") || json["stamp"] != stamp || !json.contains("plugin"))
      return std::nullopt;
    Plugin plugin = plugin_from_json(json["plugin"]);
    if (plugin.workloads.empty() || plugin.file.sha256.size() != 64) return std::nullopt;
    if (!json.contains("libraries") || json["libraries"] != library_stamps(plugin, file.parent_path()))
      return std::nullopt;
    return plugin;
  } catch (const std::exception& problem) {
    log::debug(std::string("ignoring a cached description: ") + problem.what());
    return std::nullopt;
  }
}

/// Caches a description with the stamps of the file and of its libraries. Failure only costs time, so it is only
/// logged.
void write_cached(const Plugin& plugin, const Json& stamp, const Json& libraries) {
  try {
    const auto entry = entry_for(plugin.file.file);
    std::filesystem::create_directories(entry.parent_path());
    write_file(entry, Json{{"stamp", stamp}, {"libraries", libraries}, {"plugin", to_json(plugin)}}.dump());
  } catch (const std::exception& problem) {
    log::debug(std::string("could not cache a description: ") + problem.what());
  }
}

}  // namespace

Plugin describe_file(const std::filesystem::path& file, const Options& options) {
  const PluginFile identity = verify_file(file, options.trust);
  const Json stamp = cache_stamp(identity.file);
  if (auto known = read_cached(identity.file, stamp)) {
    take_identity(*known, identity, std::string(known->file.sha256));
    return *known;
  }
  Plugin plugin = ask_child(identity, options.describe_deadline_s);
  const Json libraries = library_stamps(plugin, identity.file.parent_path());
  take_identity(plugin, identity, sha256_of_file(identity.file));
  for (auto& [name, hash] : plugin.file.libraries) hash = sha256_of_file(identity.file.parent_path() / name);
  const bool unchanged =
      cache_stamp(identity.file) == stamp && library_stamps(plugin, identity.file.parent_path()) == libraries;
  if (unchanged) write_cached(plugin, stamp, libraries);  // otherwise a file was replaced in the meantime
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
