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

/// What the leader of a launch and its followers say to each other, as messages over a FramedLink: {"type": ...,
/// fields}.
///
/// The follower joins; it is welcomed or refused; it sends its plan, and the leader accepts it or refuses. Then the
/// leader has workers started, each with a number of its own; the follower says how they ended and, asked to collect,
/// sends `left` followed by the bytes of the rank file. `finish` is the last message.
namespace kymo::supervisor::follower_protocol {

inline constexpr int kVersion = 2;

/// follower → leader: the first message. At most 4096 bytes.
struct Join {
  int version = kVersion;
  std::string kymo;      ///< version of the program
  std::string identity;  ///< of the job
  std::string token;     ///< KYMO_JOB_TOKEN
  int rank = 0;
  int world = 0;
  std::string host;
};

/// leader → follower: this link is of no use, for this reason; the other side ends.
struct Refused {
  std::string reason;
};

/// follower → leader: what its own command line asks for. Both sides must mean the same runs; only paths may differ.
struct Plan {
  struct Plugin {
    std::string name;
    std::string file;
    std::string sha256;
    std::map<std::string, std::string> libraries;  ///< of its folder, loaded with it: sha256 by file name
    bool operator==(const Plugin&) const = default;
  };
  std::vector<Plugin> plugins;       ///< in the order in which the runs name them first
  std::vector<std::string> digests;  ///< of each run, without its plugin
  std::vector<std::size_t> plugin_of_run;
  std::string folder;  ///< where the follower's workers write
  int local_rank = 0;
  int gpu = 0;  ///< which of the GPUs that the follower's process sees is its rank's
};
/// What a process plans, before anything is left out because it is finished.
Plan plan_of(const std::vector<PlannedRun>& runs);
/// The first difference that matters, in words that name both ranks; empty if there is none.
std::string difference(const Plan& leader, const Plan& follower, int rank);

/// leader → follower: start a worker for this run of the plan; it connects to the leader's port by itself.
struct Start {
  std::int64_t worker = 0;
  std::size_t plan_index = 0;
  std::string token;
};
/// leader → follower: a pass begins on a worker.
struct Begin {
  std::int64_t worker = 0;
  std::int64_t run_id = 0;
  measure::Pass pass = measure::Pass::kTime;
};
/// leader → follower: the worker's own process, as it said itself.
struct Announce {
  std::int64_t worker = 0;
  std::int64_t pid = 0;
};
/// leader → follower: `kill`, `collect` and `forget` a worker.
struct Concerning {
  std::string type;
  std::int64_t worker = 0;
};

/// follower → leader.
struct Ended {
  std::int64_t worker = 0;
  WorkerEnd end;
  std::int64_t peak_bytes = 0;  ///< resident size seen
};
/// follower → leader: more memory is used than the bound.
struct Memory {
  std::int64_t worker = 0;
  RankProcess::MemoryUse use;
};
/// follower → leader: what a pass left; `file_bytes` raw bytes follow, in frames of their own. -1: there is no file.
struct Left {
  std::int64_t worker = 0;
  std::string stdout_text;
  std::string stderr_text;
  std::int64_t file_bytes = -1;
};
/// follower → leader: the user ends this one.
struct Signalled {
  int number = 0;
};
/// leader → follower: all is done; exit with this code.
struct Finish {
  int code = 0;
};

Json to_json(const Join&);
Json to_json(const Refused&);
Json to_json(const Plan&);
Json to_json(const Start&);
Json to_json(const Begin&);
Json to_json(const Announce&);
Json to_json(const Concerning&);
Json to_json(const Ended&);
Json to_json(const Memory&);
Json to_json(const Left&);
Json to_json(const Signalled&);
Json to_json(const Finish&);
/// {"type": type}: `welcome` and `accepted`.
Json bare(const char* type);

/// Throw Error on a missing or mistyped field.
Join join_from(const Json&);
Refused refused_from(const Json&);
Plan plan_from(const Json&);
Start start_from(const Json&);
Begin begin_from(const Json&);
Announce announce_from(const Json&);
Concerning concerning_from(const Json&);
Ended ended_from(const Json&);
Memory memory_from(const Json&);
Left left_from(const Json&);
Signalled signalled_from(const Json&);
Finish finish_from(const Json&);

}  // namespace kymo::supervisor::follower_protocol
