// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "event/trace.hpp"
#include "measure/protocol.hpp"

namespace kymo::worker {

/// The supervisor is gone; the worker's result is no longer needed.
class ConnectionLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Result of a barrier.
enum class Release { kGo, kStop, kCancelled };

/// The worker's side of the control protocol. Single-threaded. Every function throws ConnectionLost.
class ControlClient {
 public:
  virtual ~ControlClient() = default;

  /// Waits for the next assignment; nullopt means exit. Restarts the numbering of barriers and gathers at 0.
  virtual std::optional<measure::protocol::Assignment> next_assignment() = 0;
  virtual void send(const measure::protocol::Progress& progress) = 0;
  virtual void send(const measure::Outcome& outcome) = 0;

  /// Waits until every rank has arrived or the run is cancelled. Only rank 0's `stop` is used.
  virtual Release barrier(bool stop) = 0;

  /// Sends bytes to every rank and returns those of all ranks in rank order; nullopt if the run is cancelled in the
  /// meantime.
  virtual std::optional<std::vector<std::string>> gather(const std::string& bytes) = 0;

  /// Reads the supervisor's clock between request and reply; nullopt if the run is cancelled in the meantime.
  virtual std::optional<measure::protocol::Clock> request_clock() = 0;

  /// True once the run is cancelled. Does not wait.
  virtual bool cancelled() = 0;
};

/// Compares this process's clock with the supervisor's. If both run in the same boot of the same machine, the result is
/// exact and takes one query; otherwise the fastest of several round trips is used. host_ns is relative to the start of
/// the run. Returns nullopt if the run is cancelled in the meantime. Throws ConnectionLost.
std::optional<event::ClockSync> compare_with_supervisor(ControlClient& control, std::int64_t run_start_ns);

/// Converts a time of this machine's clock to the supervisor's clock; nullopt if the run is cancelled.
std::optional<std::int64_t> to_supervisor_clock(ControlClient& control, std::int64_t host_ns);

}  // namespace kymo::worker
