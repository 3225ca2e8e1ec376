// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "event/records.hpp"
#include "measure/plan.hpp"

/// What supervisor and worker say to each other, as JSON frames over one TCP connection.
///
/// A frame is a 4-byte little-endian length and that many bytes of JSON: {"type": ..., fields}.
/// The worker connects, says hello, receives an assignment, reports progress, asks for barriers, and ends each
/// assignment with an outcome; then it receives the next assignment or `exit`. A worker in any language can take part.
namespace kymo::measure::protocol {

inline constexpr int kVersion = 3;
inline constexpr std::uint32_t kMaxFrameBytes = 64u << 20;

/// worker → supervisor: the first frame.
struct Hello {
  int protocol = kVersion;
  std::string token;  ///< proves that the supervisor started this worker
  int rank = 0;
  std::int64_t pid = 0;
};

/// supervisor → worker: one pass of one run on one rank.
struct Assignment {
  std::int64_t run_id = 0;
  Case what;
  Method how;
  Pass pass = Pass::kTime;
  int rank = 0;
  int local_rank = 0;    ///< counts the ranks of this one's machine
  int device_index = 0;  ///< CUDA device ordinal in the worker's process; means nothing on CPU
  std::string rendezvous_host = "127.0.0.1";
  std::uint16_t rendezvous_port = 0;  ///< 0 when there is one rank
  std::string rank_file;              ///< database the worker writes
};

/// worker → supervisor: the heartbeat; sent when a stage or step begins, between timed stretches.
struct Progress {
  std::string stage;  ///< "load", "create", "prepare", "warmup", "step", "verify", "write"
  std::int64_t step = -1;
  std::int64_t steps = 0;  ///< planned, warm-up included; 0 if a stopping rule decides
  bool failing = false;    ///< the pass has failed on this rank; it clears up, and its outcome follows
};

/// worker → supervisor, answered by Released once every rank has arrived. `stop` counts from rank 0 alone.
struct Barrier {
  std::int64_t sequence = 0;
  bool stop = false;
};

/// supervisor → worker.
struct Released {
  std::int64_t sequence = 0;
  bool stop = false;
};

/// worker → supervisor, answered by Gathered once every rank has sent its part. Payloads are base64.
struct Gather {
  std::int64_t sequence = 0;
  std::string payload;
};
struct Gathered {
  std::int64_t sequence = 0;
  std::vector<std::string> payloads;  ///< in rank order
};

/// worker → supervisor, answered by Clock at once, whatever the pass is doing.
struct AskClock {
  std::int64_t sequence = 0;
};
/// supervisor → worker.
struct Clock {
  std::int64_t sequence = 0;
  std::int64_t clock_ns = 0;  ///< the supervisor's CLOCK_MONOTONIC_RAW as it answered
  std::string boot_id;        ///< of its machine: with the worker's own, the two have one clock; empty if unknown
};

/// worker → supervisor: how the assignment ended on this rank. The rank file is complete when this is sent.
struct Outcome {
  std::string status;  ///< ok, oom, failed, skipped, interrupted
  std::string detail;  ///< one line
  std::string stage;   ///< where it happened
  std::string phase;
  std::int64_t step = -1;
  std::string verification;  ///< verify pass: "passed", "failed", "unavailable"; else empty
  /// When the pass failed, on the supervisor's clock: of several ranks the first to fail is the cause. -1 if it did
  /// not, if there is but one rank, or if that is unknown.
  std::int64_t failed_ns = -1;
};

/// supervisor → worker: end after the current step; what was measured is written.
struct Cancel {};
/// supervisor → worker: no more work.
struct Exit {};

Json to_json(const Hello&);
Json to_json(const Assignment&);
Json to_json(const Progress&);
Json to_json(const Barrier&);
Json to_json(const Released&);
Json to_json(const Gather&);
Json to_json(const Gathered&);
Json to_json(const AskClock&);
Json to_json(const Clock&);
Json to_json(const Outcome&);
Json to_json(const Cancel&);
Json to_json(const Exit&);

/// The "type" of a frame: hello, assignment, progress, barrier, released, gather, gathered, ask_clock, clock, outcome,
/// cancel, exit.
std::string type_of(const Json& frame);

/// Throw Error on a missing or mistyped field.
Hello hello_from(const Json&);
Assignment assignment_from(const Json&);
Progress progress_from(const Json&);
Barrier barrier_from(const Json&);
Released released_from(const Json&);
Gather gather_from(const Json&);
Gathered gathered_from(const Json&);
AskClock ask_clock_from(const Json&);
Clock clock_from(const Json&);
Outcome outcome_from(const Json&);

}  // namespace kymo::measure::protocol
