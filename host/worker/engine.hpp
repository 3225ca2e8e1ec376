// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <cstdint>
#include <vector>

#include "event/records.hpp"
#include "event/step_records.h"
#include "measure/protocol.hpp"
#include "worker/control_client.hpp"
#include "worker/worker_environment.hpp"

namespace kymo::store {
class StepJournal;
}

namespace kymo::worker {

/// Result of one pass of one rank. The record contains the measurements, even after a failure.
struct PassResult {
  measure::Outcome outcome;
  event::PassRecord record;
};

/// Stages before a pass. Times are in ns on the host clock.
struct PassStart {
  struct Stage {
    const char* name;
    std::int64_t end_ns;
  };
  std::int64_t run_start_ns = 0;              ///< origin of the times in records
  std::vector<Stage> stages;                  ///< stages that ended before the pass
  store::StepJournal* journal = nullptr;      ///< keeps each complete step; nullptr: none
  kymo_step_records* step_records = nullptr;  ///< of an observed program
};

/// Runs one pass: arms the collectors, creates and prepares the workload, verifies it or runs its steps, disarms, and
/// destroys the workload. The method of the assignment is that of the pass (method_in). Any failure of the workload
/// that does not end the process becomes the outcome. Throws ConnectionLost, and Error for errors of kymo itself.
PassResult run_pass(const measure::protocol::Assignment& assignment, const kymo_plugin& plugin,
                    const Observers& observers, ControlClient& control, const PassStart& start);

}  // namespace kymo::worker
