// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "measure/outcome.hpp"
#include "measure/plan.hpp"

/// Protocol between supervisor and worker: JSON frames over one TCP connection.
///
/// A frame is a 4-byte little-endian length followed by that many bytes of JSON: {"type": ..., fields}.
/// The worker connects, sends hello, and receives an assignment. It then reports progress, requests barriers, and ends
/// each assignment with an outcome, after which it receives the next assignment or `exit`. Workers can be written in
/// any language.
namespace kymo::measure::protocol {

inline constexpr int kVersion = 3;
inline constexpr std::uint32_t kMaxFrameBytes = 64u << 20;

/// worker → supervisor: first frame.
struct Hello {
  int protocol = kVersion;
  std::string token;  ///< authenticates the worker
  int rank = 0;
  std::int64_t pid = 0;
};

/// supervisor → worker: one pass of a run on one rank.
struct Assignment {
  std::int64_t run_id = 0;
  Case what;
  Method method;
  Pass pass = Pass::kTime;
  int rank = 0;
  int local_rank = 0;    ///< index among the ranks on this host
  int device_index = 0;  ///< CUDA device ordinal in the worker's process; unused on CPU
  std::string rendezvous_host = "127.0.0.1";
  std::uint16_t rendezvous_port = 0;  ///< 0 for a single rank
  std::string rank_file;              ///< database that the worker writes
};

/// worker → supervisor: heartbeat, sent at the start of a stage or step, outside of timed regions.
struct Progress {
  std::string stage;  ///< "load", "create", "prepare", "warmup", "step", "verify", "write"
  std::int64_t step = -1;
  std::int64_t steps = 0;  ///< planned number including warm-up; 0 with a stopping rule
  bool failing = false;    ///< the pass failed on this rank; the worker cleans up and then sends the outcome
};

/// worker → supervisor, answered by Released when every rank has arrived. Only rank 0's `stop` is used.
struct Barrier {
  std::int64_t sequence = 0;
  bool stop = false;
};

/// supervisor → worker: answer to Barrier.
struct Released {
  std::int64_t sequence = 0;
  bool stop = false;
};

/// worker → supervisor, answered by Gathered when every rank has sent its payload. Payloads are base64-encoded.
struct Gather {
  std::int64_t sequence = 0;
  std::string payload;
};
struct Gathered {
  std::int64_t sequence = 0;
  std::vector<std::string> payloads;  ///< in rank order
};

/// worker → supervisor, answered by Clock immediately at any time.
struct ClockRequest {
  std::int64_t sequence = 0;
};
/// supervisor → worker: answer to ClockRequest.
struct Clock {
  std::int64_t sequence = 0;
  std::int64_t clock_ns = 0;  ///< the supervisor's CLOCK_MONOTONIC_RAW at the time of the answer
  std::string
      boot_id;  ///< boot id of the supervisor's host; if it equals the worker's, both use one clock; empty if unknown
};

/// supervisor → worker: stop after the current step and write the measurements.
struct Cancel {};
/// supervisor → worker: no further assignments.
struct Exit {};

Json to_json(const Hello&);
Json to_json(const Assignment&);
Json to_json(const Progress&);
Json to_json(const Barrier&);
Json to_json(const Released&);
Json to_json(const Gather&);
Json to_json(const Gathered&);
Json to_json(const ClockRequest&);
Json to_json(const Clock&);
/// worker → supervisor: result of the assignment on this rank. The rank file is complete when this frame is sent.
Json to_json(const Outcome&);
Json to_json(const Cancel&);
Json to_json(const Exit&);

/// Returns the "type" of a frame: hello, assignment, progress, barrier, released, gather, gathered, clock_request,
/// clock, outcome, cancel or exit.
std::string type_of(const Json& frame);

/// These functions throw Error on a missing or mistyped field or an invalid value.
Hello hello_from(const Json&);
Assignment assignment_from(const Json&);
Progress progress_from(const Json&);
Barrier barrier_from(const Json&);
Released released_from(const Json&);
Gather gather_from(const Json&);
Gathered gathered_from(const Json&);
ClockRequest clock_request_from(const Json&);
Clock clock_from(const Json&);
Outcome outcome_from(const Json&);

}  // namespace kymo::measure::protocol
