// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure/protocol.hpp"

namespace kymo::worker {

/// The supervisor is gone: nobody waits for this worker's result.
class ConnectionLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How a barrier ended.
enum class Release { kGo, kStop, kCancelled };

/// The control server as a worker sees it. One thread. Every function throws ConnectionLost.
class ControlClient {
 public:
  virtual ~ControlClient() = default;

  /// Waits for work; nullopt means exit. Barriers and gathers count from 0 again.
  virtual std::optional<measure::protocol::Assignment> next_assignment() = 0;
  virtual void send(const measure::protocol::Progress& progress) = 0;
  virtual void send(const measure::protocol::Outcome& outcome) = 0;

  /// Waits until every rank has arrived, or the run is cancelled. `stop` counts on rank 0 alone.
  virtual Release barrier(bool stop) = 0;

  /// Gives bytes to every rank and returns theirs in rank order; nullopt if the run is cancelled meanwhile.
  virtual std::optional<std::vector<std::string>> gather(const std::string& bytes) = 0;

  /// The supervisor's clock, read between question and answer; nullopt if the run is cancelled meanwhile.
  virtual std::optional<measure::protocol::Clock> ask_clock() = 0;

  /// True once the run is to end. Never waits.
  virtual bool cancelled() = 0;
};

}  // namespace kymo::worker
