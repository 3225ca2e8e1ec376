// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worker/control_client.hpp"
#include "worker/equipment.hpp"

namespace kymo::worker {

/// The life of one worker: assignment after assignment until it is told to exit.
class Session {
 public:
  Session(ControlClient& control, Equipment& equipment) : control_(control), equipment_(equipment) {}

  /// Throws ConnectionLost. All else that goes wrong is an assignment's outcome.
  void serve();

 private:
  measure::protocol::Outcome carry_out(const measure::protocol::Assignment& assignment);
  void add_device(const measure::protocol::Assignment& assignment, event::PassRecord& record);

  ControlClient& control_;
  Equipment& equipment_;
  Observers used_;  // collectors of the assignment before, to be reset before the next
};

}  // namespace kymo::worker
