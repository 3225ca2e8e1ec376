// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/json.hpp"
#include "measure/plan.hpp"
#include "supervisor/rank_process.hpp"
#include "supervisor/runs.hpp"

/// Messages between the leader of a job and its followers, with the same frames and rules as the worker protocol
/// (measure/protocol.hpp).
///
/// The follower sends `join` and receives `joined` or `rejected`. It sends its plan, which the leader accepts or
/// rejects. The leader then starts workers, each with its own id. The follower reports how they ended and, on
/// `collect`, sends `worker_output` followed by the content of the rank file. `finish` is the last message.
namespace kymo::supervisor::follower_protocol {

inline constexpr int kVersion = 4;

/// follower → leader: the first message. At most 4096 bytes.
struct Join {
  static constexpr const char* kType = "join";
  int version = kVersion;
  std::string kymo;      ///< version of kymo
  std::string identity;  ///< identity of the job
  std::string token;     ///< KYMO_JOB_TOKEN
  int rank = 0;
  int world_size = 0;
  std::string host;

  static auto fields(auto& m) {
    return std::forward_as_tuple("version", m.version, "kymo", m.kymo, "identity", m.identity, "token", m.token, "rank",
                                 m.rank, "world_size", m.world_size, "host", m.host);
  }
};

/// leader → follower: the connection is rejected for this reason; the follower exits.
struct Rejected {
  static constexpr const char* kType = "rejected";
  std::string reason;

  static auto fields(auto& m) { return std::forward_as_tuple("reason", m.reason); }
};

/// follower → leader: the runs of the follower's own command line. Both sides must plan the same runs; only paths may
/// differ.
struct Plan {
  static constexpr const char* kType = "plan";
  struct Plugin {
    std::string name;
    std::string file;
    std::string sha256;
    std::map<std::string, std::string> libraries;  ///< shared libraries loaded from the plugin's folder: SHA-256 by
                                                   ///< file name
    bool operator==(const Plugin&) const = default;

    static auto fields(auto& m) {
      return std::forward_as_tuple("name", m.name, "file", m.file, "sha256", m.sha256, "libraries", m.libraries);
    }
  };
  std::vector<Plugin> plugins;       ///< in the order of first use
  std::vector<std::string> digests;  ///< one per run, excluding its plugin
  std::vector<std::size_t> plugin_of_run;
  std::string folder;  ///< output folder of the follower's workers
  int local_rank = 0;
  int gpu = 0;  ///< index of this rank's GPU among the GPUs visible to the follower's process

  static auto fields(auto& m) {
    return std::forward_as_tuple("plugins", m.plugins, "digests", m.digests, "plugin_of_run", m.plugin_of_run, "folder",
                                 m.folder, "local_rank", m.local_rank, "gpu", m.gpu);
  }
  void check() const;  ///< throws Error if the plan refers to a plugin that it does not contain
};
/// The plan of a process, before finished runs are removed.
Plan plan_of(const std::vector<PlannedRun>& runs);
/// Describes the first relevant difference and names both ranks; empty if there is none.
std::string difference(const Plan& leader, const Plan& follower, int rank);

/// leader → follower: start a worker for this run of the plan. The worker connects to the leader's port itself.
struct Start {
  static constexpr const char* kType = "start";
  std::int64_t worker = 0;
  std::size_t plan_index = 0;
  std::string token;

  static auto fields(auto& m) {
    return std::forward_as_tuple("worker", m.worker, "plan_index", m.plan_index, "token", m.token);
  }
};
/// leader → follower: a pass starts on a worker.
struct Begin {
  static constexpr const char* kType = "begin";
  std::int64_t worker = 0;
  std::int64_t run_id = 0;
  measure::Pass pass = measure::Pass::kTime;

  static auto fields(auto& m) { return std::forward_as_tuple("worker", m.worker, "run_id", m.run_id, "pass", m.pass); }
};
/// leader → follower: the process id that the worker reported.
struct Announce {
  static constexpr const char* kType = "announce";
  std::int64_t worker = 0;
  std::int64_t pid = 0;

  static auto fields(auto& m) { return std::forward_as_tuple("worker", m.worker, "pid", m.pid); }
};
/// leader → follower: `kill`, `collect` or `forget` a worker.
struct WorkerRequest {
  std::string type;
  std::int64_t worker = 0;

  static auto fields(auto& m) { return std::forward_as_tuple("type", m.type, "worker", m.worker); }
};

/// follower → leader: a worker ended.
struct Ended {
  static constexpr const char* kType = "ended";
  std::int64_t worker = 0;
  WorkerEnd end;
  std::int64_t peak_bytes = 0;  ///< largest resident size observed

  static auto fields(auto& m) {
    return std::forward_as_tuple("worker", m.worker, "exit_code", m.end.end.exit_code, "signal", m.end.end.signal,
                                 "kernel_out_of_memory", m.end.kernel_out_of_memory, "last_line", m.end.last_line,
                                 "lost", m.end.lost, "detached", m.end.detached, "peak_bytes", m.peak_bytes);
  }
};
/// follower → leader: the worker exceeds its memory limit.
struct Memory {
  static constexpr const char* kType = "memory";
  std::int64_t worker = 0;
  RankProcess::MemoryUse use;

  static auto fields(auto& m) {
    return std::forward_as_tuple("worker", m.worker, "bytes", m.use.bytes, "available_bytes", m.use.available_bytes);
  }
};
/// follower → leader: output of a pass. `file_bytes` bytes of the rank file follow as FileParts; -1: there is no file.
struct WorkerOutput {
  static constexpr const char* kType = "worker_output";
  std::int64_t worker = 0;
  std::string stdout_text;
  std::string stderr_text;
  std::int64_t file_bytes = -1;

  static auto fields(auto& m) {
    return std::forward_as_tuple("worker", m.worker, "stdout", m.stdout_text, "stderr", m.stderr_text, "file_bytes",
                                 m.file_bytes);
  }
  void check() const;
};
/// follower → leader: the next bytes of the rank file.
struct FilePart {
  static constexpr const char* kType = "file_part";
  std::int64_t worker = 0;
  std::string payload;

  static auto fields(auto& m) { return std::forward_as_tuple("worker", m.worker); }
};
/// follower → leader: the user sent a signal to this follower.
struct Signalled {
  static constexpr const char* kType = "signalled";
  int number = 0;

  static auto fields(auto& m) { return std::forward_as_tuple("number", m.number); }
};
/// leader → follower: all runs are finished; exit with this code.
struct Finish {
  static constexpr const char* kType = "finish";
  int code = 0;

  static auto fields(auto& m) { return std::forward_as_tuple("code", m.code); }
};

/// {"type": type}, used for `joined` and `accepted`.
Json plain_message(const char* type);

}  // namespace kymo::supervisor::follower_protocol
