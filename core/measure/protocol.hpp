// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/frame.hpp"
#include "event/records.hpp"
#include "measure/json_field.hpp"
#include "measure/outcome.hpp"
#include "measure/plan.hpp"

/// Protocol between supervisor and worker, over one connection. Workers can be written in any language.
///
/// Each message is one frame (base/frame.hpp): {"type": ..., fields}, where fields() of the struct lists the names of
/// the fields; enumerations are written as their names and an empty std::optional as null. All fields are required, and
/// only messages with a member `payload` may have a payload. Either side closes the connection on a malformed message.
/// The worker connects, sends hello in a frame of at most 4096 bytes, and receives an assignment. It then reports
/// progress, requests barriers, and ends each assignment with an outcome, after which it receives the next assignment
/// or `exit`. A process whose connection was closed, for example by a program that closes all descriptors, connects
/// again and goes on. The outcome is a measure::Outcome; the rank file is complete when it is sent.
namespace kymo::measure::protocol {

inline constexpr int kVersion = 7;

/// worker → supervisor: first frame.
struct Hello {
  static constexpr const char* kType = "hello";
  int protocol = kVersion;
  std::string token;  ///< authenticates the worker
  int rank = 0;
  std::int64_t pid = 0;
  int ranks = 0;       ///< of the process group that an observed program has made; 0: not known, or a worker
  bool again = false;  ///< the process has lost its connection, which this one continues

  static auto fields(auto& m) {
    return std::forward_as_tuple("protocol", m.protocol, "token", m.token, "rank", m.rank, "pid", m.pid, "ranks",
                                 m.ranks, "again", m.again);
  }
};

/// supervisor → worker: one pass of a run on one rank.
struct Assignment {
  static constexpr const char* kType = "assignment";
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
  std::string plugin_description;     ///< JSON, for plugins that are not shared libraries

  static auto fields(auto& m) {
    return std::forward_as_tuple("run_id", m.run_id, "case", m.what, "method", m.method, "pass", m.pass, "rank", m.rank,
                                 "local_rank", m.local_rank, "device_index", m.device_index, "rendezvous_host",
                                 m.rendezvous_host, "rendezvous_port", m.rendezvous_port, "rank_file", m.rank_file,
                                 "plugin_description", m.plugin_description);
  }
};

/// worker → supervisor: heartbeat, sent at the start of a stage or step, outside of timed regions.
struct Progress {
  static constexpr const char* kType = "progress";
  std::string stage;  ///< "load", "create", "prepare", "warmup", "step", "verify", "write"
  std::int64_t step = -1;
  std::int64_t steps = 0;  ///< planned number including warm-up; 0 with a stopping rule
  bool failing = false;    ///< the pass failed on this rank; the worker cleans up and then sends the outcome

  static auto fields(auto& m) {
    return std::forward_as_tuple("stage", m.stage, "step", m.step, "steps", m.steps, "failing", m.failing);
  }
};

/// worker → supervisor, answered by Released when every rank has arrived. Only rank 0's `stop` is used.
struct Barrier {
  static constexpr const char* kType = "barrier";
  std::int64_t sequence = 0;
  bool stop = false;

  static auto fields(auto& m) { return std::forward_as_tuple("sequence", m.sequence, "stop", m.stop); }
};

/// supervisor → worker: answer to Barrier.
struct Released {
  static constexpr const char* kType = "released";
  std::int64_t sequence = 0;
  bool stop = false;

  static auto fields(auto& m) { return std::forward_as_tuple("sequence", m.sequence, "stop", m.stop); }
};

/// worker → supervisor, answered by Gathered when every rank has sent its payload.
struct Gather {
  static constexpr const char* kType = "gather";
  std::int64_t sequence = 0;
  std::string payload;

  static auto fields(auto& m) { return std::forward_as_tuple("sequence", m.sequence); }
};
/// supervisor → worker: answer to Gather.
struct Gathered {
  static constexpr const char* kType = "gathered";
  std::int64_t sequence = 0;
  std::vector<std::size_t> sizes;  ///< bytes of each rank's payload, in rank order
  std::string payload;             ///< the payloads of all ranks, in rank order

  static auto fields(auto& m) { return std::forward_as_tuple("sequence", m.sequence, "sizes", m.sizes); }
};

/// worker → supervisor, answered by Clock immediately at any time.
struct ClockRequest {
  static constexpr const char* kType = "clock_request";
  std::int64_t sequence = 0;

  static auto fields(auto& m) { return std::forward_as_tuple("sequence", m.sequence); }
};
/// supervisor → worker: answer to ClockRequest.
struct Clock {
  static constexpr const char* kType = "clock";
  std::int64_t sequence = 0;
  std::int64_t clock_ns = 0;  ///< the supervisor's CLOCK_MONOTONIC_RAW at the time of the answer
  std::string
      boot_id;  ///< boot id of the supervisor's host; if it equals the worker's, both use one clock; empty if unknown

  static auto fields(auto& m) {
    return std::forward_as_tuple("sequence", m.sequence, "clock_ns", m.clock_ns, "boot_id", m.boot_id);
  }
};

/// supervisor → worker: stop after the current step and write the measurements.
struct Cancel {
  static constexpr const char* kType = "cancel";
  static auto fields(auto&) { return std::tuple(); }
};
/// supervisor → worker: no further assignments.
struct Exit {
  static constexpr const char* kType = "exit";
  static auto fields(auto&) { return std::tuple(); }
};

inline Gathered gathered(std::int64_t sequence, const std::vector<std::string>& payloads) {
  Gathered message{sequence, {}, ""};
  for (const auto& payload : payloads) {
    message.sizes.push_back(payload.size());
    message.payload += payload;
  }
  return message;
}
/// Returns the payloads in rank order. Throws Error if their sizes do not add up.
inline std::vector<std::string> split_payload(const Gathered& message) {
  std::vector<std::string> payloads;
  std::size_t begin = 0;
  for (const std::size_t size : message.sizes) {
    if (size > message.payload.size() - begin) break;
    payloads.push_back(message.payload.substr(begin, size));
    begin += size;
  }
  if (payloads.size() != message.sizes.size() || begin != message.payload.size())
    throw Error("the sizes of gathered payloads do not add up");
  return payloads;
}

/// Returns the "type" of a message.
inline std::string type_of(const Json& message) { return required_field<std::string>(message, "type"); }

/// Reads a message and takes its payload out of the frame. Throws Error on a missing or mistyped field and on a payload
/// that this type of message does not have.
template <typename Message>
Message message_from(Frame& frame) {
  auto message = frame.message.get<Message>();
  if constexpr (requires { message.payload; }) {
    message.payload = std::move(frame.payload);
  } else if (!frame.payload.empty()) {
    throw Error("unexpected binary data");
  }
  return message;
}

}  // namespace kymo::measure::protocol
