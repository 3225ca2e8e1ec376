// SPDX-License-Identifier: Apache-2.0
#include "supervisor/follower_protocol.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "measure/json_field.hpp"

namespace kymo::supervisor::follower_protocol {
namespace {

template <typename T>
T field(const Json& frame, const char* name) {
  return measure::required_field<T>(frame, name);
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <typename T>
std::optional<T> optional_field(const Json& frame, const char* name) {
  if (field<Json>(frame, name).is_null()) return std::nullopt;
  return field<T>(frame, name);
}

constexpr std::size_t kDigestDigits = 16;

/// Digest of everything that defines a run, except the plugin, which is compared separately.
std::string digest_of(const PlannedRun& run) {
  Json what = run.what;
  what.erase("plugin_file");
  what.erase("plugin_sha256");
  what.erase("plugin_libraries");
  const Json all = Json::array({what, run.method, run.suite, run.suite_case, run.repetition});
  return sha256(dump_json(all)).substr(0, kDigestDigits);
}

std::string called(const std::string& file, const std::string& sha256, int rank) {
  return "rank " + std::to_string(rank) + " has " + quote(file) + " with sha256 " + sha256.substr(0, kDigestDigits);
}

std::string library_called(const Plan::Plugin& plugin, const std::string& name, int rank) {
  const auto found = plugin.libraries.find(name);
  const std::string library = (std::filesystem::path(plugin.file).parent_path() / name).string();
  if (found == plugin.libraries.end()) return "rank " + std::to_string(rank) + " does not load " + quote(library);
  return called(library, found->second, rank);
}

/// Describes how the same plugin differs between rank 0 and another rank; empty if it does not.
std::string plugin_difference(const Plan::Plugin& ours, const Plan::Plugin& theirs, int rank) {
  static constexpr const char* kRight = "; install the same files on every machine";
  if (ours.sha256 != theirs.sha256) {
    return "the plugin " + quote(ours.name) + " is not the same on all ranks: " + called(ours.file, ours.sha256, 0) +
           ", " + called(theirs.file, theirs.sha256, rank) + kRight;
  }
  auto all = ours.libraries;
  all.insert(theirs.libraries.begin(), theirs.libraries.end());
  for (const auto& [name, hash] : all) {
    if (ours.libraries.contains(name) && theirs.libraries.contains(name) &&
        ours.libraries.at(name) == theirs.libraries.at(name))
      continue;
    return "the library " + quote(name) + " of the plugin " + quote(ours.name) +
           " is not the same on all ranks: " + library_called(ours, name, 0) + ", " +
           library_called(theirs, name, rank) + kRight;
  }
  return "";
}

}  // namespace

Plan plan_of(const std::vector<PlannedRun>& runs) {
  Plan plan;
  for (const auto& run : runs) {
    const Plan::Plugin plugin{run.plugin.name, run.what.plugin_file, run.what.plugin_sha256, run.what.plugin_libraries};
    const auto found = std::find(plan.plugins.begin(), plan.plugins.end(), plugin);
    plan.plugin_of_run.push_back(static_cast<std::size_t>(found - plan.plugins.begin()));
    if (found == plan.plugins.end()) plan.plugins.push_back(plugin);
    plan.digests.push_back(digest_of(run));
  }
  return plan;
}

std::string difference(const Plan& leader, const Plan& follower, int rank) {
  static constexpr const char* kRight = "; every rank must use the same command line, plugins, suites and device kind";
  const std::string them = "rank " + std::to_string(rank);
  if (leader.digests.size() != follower.digests.size()) {
    return "rank 0 plans " + std::to_string(leader.digests.size()) + " runs but " + them + " plans " +
           std::to_string(follower.digests.size()) + kRight;
  }
  for (std::size_t run = 0; run < leader.digests.size(); ++run) {
    const auto& ours = leader.plugins.at(leader.plugin_of_run[run]);
    const auto& theirs = follower.plugins.at(follower.plugin_of_run[run]);
    if (const std::string reason = plugin_difference(ours, theirs, rank); !reason.empty()) return reason;
    if (leader.digests[run] != follower.digests[run])
      return "rank 0 and " + them + " disagree about run " + std::to_string(run + 1) + kRight;
  }
  return "";
}

Json plain_message(const char* type) { return {{"type", type}}; }

Json to_json(const Join& m) {
  return {
      {"type", "join"}, {"version", m.version},       {"kymo", m.kymo}, {"identity", m.identity}, {"token", m.token},
      {"rank", m.rank}, {"world_size", m.world_size}, {"host", m.host}};
}
Join join_from(const Json& f) {
  return {field<int>(f, "version"),       field<std::string>(f, "kymo"), field<std::string>(f, "identity"),
          field<std::string>(f, "token"), field<int>(f, "rank"),         field<int>(f, "world_size"),
          field<std::string>(f, "host")};
}

Json to_json(const Rejected& m) { return {{"type", "rejected"}, {"reason", m.reason}}; }
Rejected rejected_from(const Json& f) { return {field<std::string>(f, "reason")}; }

Json to_json(const Plan& m) {
  Json plugins = Json::array();
  for (const auto& plugin : m.plugins)
    plugins.push_back(
        {{"name", plugin.name}, {"file", plugin.file}, {"sha256", plugin.sha256}, {"libraries", plugin.libraries}});
  return {
      {"type", "plan"},     {"plugins", plugins},         {"digests", m.digests}, {"plugin_of_run", m.plugin_of_run},
      {"folder", m.folder}, {"local_rank", m.local_rank}, {"gpu", m.gpu}};
}
Plan plan_from(const Json& f) {
  Plan m;
  for (const auto& plugin : field<std::vector<Json>>(f, "plugins"))
    m.plugins.push_back({field<std::string>(plugin, "name"), field<std::string>(plugin, "file"),
                         field<std::string>(plugin, "sha256"),
                         field<std::map<std::string, std::string>>(plugin, "libraries")});
  m.digests = field<std::vector<std::string>>(f, "digests");
  m.plugin_of_run = field<std::vector<std::size_t>>(f, "plugin_of_run");
  m.folder = field<std::string>(f, "folder");
  m.local_rank = field<int>(f, "local_rank");
  m.gpu = field<int>(f, "gpu");
  const bool in_range = std::all_of(m.plugin_of_run.begin(), m.plugin_of_run.end(),
                                    [&](std::size_t at) { return at < m.plugins.size(); });
  if (!in_range || m.plugin_of_run.size() != m.digests.size())
    throw Error("a plan refers to a plugin that it does not contain");
  return m;
}

Json to_json(const Start& m) {
  return {{"type", "start"}, {"worker", m.worker}, {"plan_index", m.plan_index}, {"token", m.token}};
}
Start start_from(const Json& f) {
  return {field<std::int64_t>(f, "worker"), field<std::size_t>(f, "plan_index"), field<std::string>(f, "token")};
}

Json to_json(const Begin& m) {
  return {{"type", "begin"}, {"worker", m.worker}, {"run_id", m.run_id}, {"pass", to_string(m.pass)}};
}
Begin begin_from(const Json& f) {
  return {field<std::int64_t>(f, "worker"), field<std::int64_t>(f, "run_id"),
          measure::pass_from(field<std::string>(f, "pass"))};
}

Json to_json(const Announce& m) { return {{"type", "announce"}, {"worker", m.worker}, {"pid", m.pid}}; }
Announce announce_from(const Json& f) { return {field<std::int64_t>(f, "worker"), field<std::int64_t>(f, "pid")}; }

Json to_json(const WorkerRequest& m) { return {{"type", m.type}, {"worker", m.worker}}; }
WorkerRequest worker_request_from(const Json& f) {
  return {field<std::string>(f, "type"), field<std::int64_t>(f, "worker")};
}

Json to_json(const Ended& m) {
  return {{"type", "ended"},
          {"worker", m.worker},
          {"exit_code", or_null(m.end.end.exit_code)},
          {"signal", or_null(m.end.end.signal)},
          {"kernel_out_of_memory", m.end.kernel_out_of_memory},
          {"last_line", m.end.last_line},
          {"lost", m.end.lost},
          {"peak_bytes", m.peak_bytes}};
}
Ended ended_from(const Json& f) {
  Ended m;
  m.worker = field<std::int64_t>(f, "worker");
  m.end.end.exit_code = optional_field<int>(f, "exit_code");
  m.end.end.signal = optional_field<int>(f, "signal");
  m.end.kernel_out_of_memory = field<bool>(f, "kernel_out_of_memory");
  m.end.last_line = field<std::string>(f, "last_line");
  m.end.lost = field<std::string>(f, "lost");
  m.peak_bytes = field<std::int64_t>(f, "peak_bytes");
  return m;
}

Json to_json(const Memory& m) {
  return {{"type", "memory"},
          {"worker", m.worker},
          {"bytes", m.use.bytes},
          {"available_bytes", or_null(m.use.available_bytes)}};
}
Memory memory_from(const Json& f) {
  return {field<std::int64_t>(f, "worker"),
          {field<std::int64_t>(f, "bytes"), optional_field<std::int64_t>(f, "available_bytes")}};
}

Json to_json(const WorkerOutput& m) {
  return {{"type", "worker_output"},
          {"worker", m.worker},
          {"stdout", m.stdout_text},
          {"stderr", m.stderr_text},
          {"file_bytes", m.file_bytes}};
}
WorkerOutput worker_output_from(const Json& f) {
  WorkerOutput m{field<std::int64_t>(f, "worker"), field<std::string>(f, "stdout"), field<std::string>(f, "stderr"),
                 field<std::int64_t>(f, "file_bytes")};
  if (m.file_bytes < -1) throw Error("a file of " + std::to_string(m.file_bytes) + " bytes was announced");
  return m;
}

Json to_json(const Signalled& m) { return {{"type", "signalled"}, {"number", m.number}}; }
Signalled signalled_from(const Json& f) { return {field<int>(f, "number")}; }

Json to_json(const Finish& m) { return {{"type", "finish"}, {"code", m.code}}; }
Finish finish_from(const Json& f) { return {field<int>(f, "code")}; }

}  // namespace kymo::supervisor::follower_protocol
