// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <kymo_plugin.h>
#include <link.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "base/json.hpp"
#include "base/limited_command.hpp"
#include "base/machine.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "catalog/catalog.hpp"
#include "catalog/description_cache.hpp"
#include "catalog/plugin_file.hpp"

namespace kymo::catalog {
namespace {

std::string last_line(const std::string& text) {
  const auto lines = split(trim(text), '\n');
  return lines.empty() ? std::string() : lines.back();
}

/// Throws if the child process was killed for a reason that need not be the plugin's fault.
void check_end(const PluginFile& file, const CommandLimits& limits, const LimitedResult& result,
               std::int64_t out_of_memory_kills) {
  if (!result.not_started.empty()) throw NotDescribed(file.file, result.not_started);
  if (result.exceeded == CommandLimit::kProcessorTime)
    throw NotDescribed(file.file,
                       fmt::format("describing it used more than {} s of processor time", limits.processor_s));
  if (result.exceeded == CommandLimit::kIdleTime)
    throw NotDescribed(
        file.file,
        fmt::format("describing it hangs: it slept for {} s, waiting neither for a processor nor for the disk",
                    limits.idle_s));
  if (result.end.signal == SIGKILL && kernel_out_of_memory_kills() != out_of_memory_kills)
    throw NotDescribed(file.file, "describing it was killed while the kernel killed processes for lack of memory");
}

/// The reason why the child process gave no answer.
std::string failure_reason(const LimitedResult& result) {
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

Plugin plugin_from_answer(const PluginFile& file, const LimitedResult& result) {
  if (trim(result.stdout_text).empty()) throw PluginRejected(file.file, failure_reason(result));
  Json answer;
  try {
    answer = parse_json(result.stdout_text, "its description");
  } catch (const Error&) {
    throw PluginRejected(file.file, failure_reason(result));
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
    name_python_plugin(plugin, file);
    check_description(plugin);
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

/// A file without a cached description.
struct Undescribed {
  std::size_t index = 0;  ///< in the list of files
  PluginFile identity;
  Json stamp;
  CommandLimits limits;
};

/// Says once that describing takes long, and why.
class SlownessNotice {
 public:
  SlownessNotice(const std::vector<Undescribed>& files, const Options& options)
      : files_(files),
        options_(options),
        due_ns_(now_ns() + static_cast<std::int64_t>(options.announce_after_s * 1e9)) {}

  void check() {
    if (announced_ || !options_.announce || now_ns() < due_ns_) return;
    announced_ = true;
    const bool first = std::ranges::none_of(files_, [](const auto& each) { return has_cached(each.identity); });
    const bool torch =
        std::ranges::any_of(files_, [](const auto& each) { return each.identity.framework == kLibTorch; });
    const bool one = files_.size() == 1;
    options_.announce("describing " + std::to_string(files_.size()) + (first ? "" : " new or changed") +
                      (one ? " plugin" : " plugins") + (first ? " for the first time" : "") +
                      (torch ? "; this loads LibTorch from disk" : "") + "; later commands use the stored description" +
                      (one ? "" : "s"));
  }

 private:
  const std::vector<Undescribed>& files_;
  const Options& options_;
  std::int64_t due_ns_;
  bool announced_ = false;
};

/// The described plugin, which is also cached.
Plugin take_description(const Undescribed& file, const LimitedResult& result, std::int64_t out_of_memory_kills) {
  check_end(file.identity, file.limits, result, out_of_memory_kills);
  Plugin plugin = plugin_from_answer(file.identity, result);
  const std::filesystem::path& path = file.identity.file;
  take_identity(plugin, file.identity, sha256_of_file(path));
  const Json dependencies = dependency_stamps(plugin.file);
  for (auto& [name, hash] : plugin.file.libraries) hash = sha256_of_file(path.parent_path() / name);
  const bool unchanged = cache_stamp(path) == file.stamp && dependency_stamps(plugin.file) == dependencies;
  if (unchanged) write_cached(plugin, file.stamp, dependencies);  // otherwise a file was replaced in the meantime
  return plugin;
}

/// Calls `describe`, and keeps what it returns or throws.
template <typename Describe>
void keep_outcome(Described& described, Describe describe) {
  try {
    described.plugin = describe();
  } catch (...) {
    described.error = std::current_exception();
  }
}

/// Describes files in child processes. Their commands are in the order of the files.
void describe_in_children(const std::vector<Undescribed>& files, const std::vector<LimitedCommand>& commands,
                          const Options& options, std::vector<Described>& described) {
  const std::int64_t out_of_memory_kills = kernel_out_of_memory_kills();
  const std::size_t at_once =
      options.describe_at_once > 0 ? options.describe_at_once : static_cast<std::size_t>(available_processors());
  SlownessNotice notice(files, options);
  run_limited(
      commands, at_once,
      [&](std::size_t index, const LimitedResult& result) {
        const Undescribed& file = files[index];
        keep_outcome(described[file.index], [&] { return take_description(file, result, out_of_memory_kills); });
      },
      [&] { notice.check(); });
}

}  // namespace

std::vector<Described> describe_files(const std::vector<std::filesystem::path>& files, const Options& options) {
  std::vector<Described> described(files.size());
  std::vector<Undescribed> undescribed;
  std::vector<LimitedCommand> commands;
  for (std::size_t index = 0; index < files.size(); ++index) {
    keep_outcome(described[index], [&]() -> std::optional<Plugin> {
      const std::filesystem::path& file = files[index];
      const bool python = is_python_file(file);
      Undescribed now{.index = index,
                      .identity = python ? verify_python_file(file, options) : verify_file(file, options.trust),
                      .stamp = {},
                      .limits = python ? options.python_limits : options.library_limits};
      now.stamp = cache_stamp(now.identity.file);
      if (auto known = read_cached(now.identity, now.stamp)) {
        take_identity(*known, now.identity, std::string(known->file.sha256));
        return known;
      }
      if (options.only_cached) throw Error("not described yet");
      commands.push_back({describing_process(now.identity), now.limits});
      undescribed.push_back(std::move(now));
      return std::nullopt;
    });
  }
  if (!commands.empty()) describe_in_children(undescribed, commands, options, described);
  return described;
}

Plugin describe_file(const std::filesystem::path& file, const Options& options) {
  Described described = std::move(describe_files({file}, options).front());
  if (described.error) std::rethrow_exception(described.error);
  return std::move(described.plugin).value();
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
