// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "measure/plan.hpp"
#include "supervisor/rank_process.hpp"
#include "supervisor/supervisor.hpp"

/// Messages between the leader of a job and its followers, sent over a FramedLink as {"type": ..., fields}.
///
/// The follower sends `join` and receives `welcome` or `rejected`. It sends its plan, which the leader accepts or
/// rejects. The leader then starts workers, each with its own id. The follower reports how they ended and, on
/// `collect`, sends `left` followed by the content of the rank file. `finish` is the last message.
namespace kymo::supervisor::follower_protocol {

inline constexpr int kVersion = 2;

/// follower → leader: the first message. At most 4096 bytes.
struct Join {
  int version = kVersion;
  std::string kymo;      ///< version of kymo
  std::string identity;  ///< identity of the job
  std::string token;     ///< KYMO_JOB_TOKEN
  int rank = 0;
  int world_size = 0;
  std::string host;
};

/// leader → follower: the connection is rejected for this reason; the follower exits.
struct Rejected {
  std::string reason;
};

/// follower → leader: the runs of the follower's own command line. Both sides must plan the same runs; only paths may
/// differ.
struct Plan {
  struct Plugin {
    std::string name;
    std::string file;
    std::string sha256;
    std::map<std::string, std::string> libraries;  ///< shared libraries loaded from the plugin's folder: SHA-256 by
                                                   ///< file name
    bool operator==(const Plugin&) const = default;
  };
  std::vector<Plugin> plugins;       ///< in the order of first use
  std::vector<std::string> digests;  ///< one per run, excluding its plugin
  std::vector<std::size_t> plugin_of_run;
  std::string folder;  ///< output folder of the follower's workers
  int local_rank = 0;
  int gpu = 0;  ///< index of this rank's GPU among the GPUs visible to the follower's process
};
/// The plan of a process, before finished runs are removed.
Plan plan_of(const std::vector<PlannedRun>& runs);
/// Describes the first relevant difference and names both ranks; empty if there is none.
std::string difference(const Plan& leader, const Plan& follower, int rank);

/// leader → follower: start a worker for this run of the plan. The worker connects to the leader's port itself.
struct Start {
  std::int64_t worker = 0;
  std::size_t plan_index = 0;
  std::string token;
};
/// leader → follower: a pass starts on a worker.
struct Begin {
  std::int64_t worker = 0;
  std::int64_t run_id = 0;
  measure::Pass pass = measure::Pass::kTime;
};
/// leader → follower: the process id that the worker reported.
struct Announce {
  std::int64_t worker = 0;
  std::int64_t pid = 0;
};
/// leader → follower: `kill`, `collect` or `forget` a worker.
struct WorkerRequest {
  std::string type;
  std::int64_t worker = 0;
};

/// follower → leader: a worker ended.
struct Ended {
  std::int64_t worker = 0;
  WorkerEnd end;
  std::int64_t peak_bytes = 0;  ///< largest resident size observed
};
/// follower → leader: the worker exceeds its memory limit.
struct Memory {
  std::int64_t worker = 0;
  RankProcess::MemoryUse use;
};
/// follower → leader: output of a pass. `file_bytes` bytes of the rank file follow in binary frames; -1: there is no
/// file.
struct WorkerOutput {
  std::int64_t worker = 0;
  std::string stdout_text;
  std::string stderr_text;
  std::int64_t file_bytes = -1;
};
/// follower → leader: the user sent a signal to this follower.
struct Signalled {
  int number = 0;
};
/// leader → follower: all runs are finished; exit with this code.
struct Finish {
  int code = 0;
};

Json to_json(const Join&);
Json to_json(const Rejected&);
Json to_json(const Plan&);
Json to_json(const Start&);
Json to_json(const Begin&);
Json to_json(const Announce&);
Json to_json(const WorkerRequest&);
Json to_json(const Ended&);
Json to_json(const Memory&);
Json to_json(const WorkerOutput&);
Json to_json(const Signalled&);
Json to_json(const Finish&);
/// {"type": type}, used for `welcome` and `accepted`.
Json plain_message(const char* type);

/// All of these throw Error on a missing or mistyped field.
Join join_from(const Json&);
Rejected rejected_from(const Json&);
Plan plan_from(const Json&);
Start start_from(const Json&);
Begin begin_from(const Json&);
Announce announce_from(const Json&);
WorkerRequest worker_request_from(const Json&);
Ended ended_from(const Json&);
Memory memory_from(const Json&);
WorkerOutput worker_output_from(const Json&);
Signalled signalled_from(const Json&);
Finish finish_from(const Json&);

}  // namespace kymo::supervisor::follower_protocol
