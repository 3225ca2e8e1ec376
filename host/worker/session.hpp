// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "worker/control_client.hpp"
#include "worker/engine.hpp"
#include "worker/equipment.hpp"

namespace kymo::worker {

/// The life of one worker: assignment after assignment until it is told to exit.
class Session {
 public:
  /// process_start_ns (host clock): when this process began to work; what its first assignment's times are relative to.
  Session(ControlClient& control, Equipment& equipment, std::int64_t process_start_ns)
      : control_(control), equipment_(equipment), process_start_ns_(process_start_ns) {}

  /// Throws ConnectionLost. All else that goes wrong is an assignment's outcome.
  void serve();

 private:
  measure::protocol::Outcome carry_out(const measure::protocol::Assignment& assignment);
  /// Times of a run count from the start of the process if it is new, else from the assignment.
  PassStart begin_run();
  void add_device(const measure::protocol::Assignment& assignment, event::PassRecord& record);

  ControlClient& control_;
  Equipment& equipment_;
  std::int64_t process_start_ns_;
  bool is_new_ = true;
  Observers used_;  // collectors of the assignment before, to be reset before the next
};

}  // namespace kymo::worker
