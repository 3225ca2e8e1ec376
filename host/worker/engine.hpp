// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <cstdint>
#include <vector>

#include "event/records.hpp"
#include "measure/protocol.hpp"
#include "worker/control_client.hpp"
#include "worker/observers.hpp"

namespace kymo::worker {

/// What one pass of one rank came to. The record holds what was measured, also after a failure.
struct PassResult {
  measure::protocol::Outcome outcome;
  event::PassRecord record;
  std::int64_t failed_ns = -1;  ///< host clock: when it was known that the pass is not ok; -1 if it is
};

/// What went before a pass; times in ns on the host clock.
struct PassStart {
  struct Stage {
    const char* name;
    std::int64_t end_ns;
  };
  std::int64_t run_start_ns = 0;  ///< what the times in records are relative to
  std::vector<Stage> stages;      ///< those that ended before the pass
};

/// Makes one pass: arms the collectors, creates the workload, prepares it, verifies it or makes its steps, disarms,
/// destroys. Whatever the workload does short of ending the process becomes the outcome. Throws ConnectionLost, and
/// Error of the tool's own.
PassResult make_pass(const measure::protocol::Assignment& assignment, const kymo_plugin& plugin,
                     const Observers& observers, ControlClient& control, const PassStart& start);

}  // namespace kymo::worker
