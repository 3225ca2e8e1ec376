// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "unit/worker/fake_collector.hpp"
#include "unit/worker/fake_control.hpp"
#include "unit/worker/fake_workload.hpp"
#include "worker/engine.hpp"

namespace kymo::worker {

/// Runs passes of a fake workload for a simulated supervisor.
class EngineTest : public testing::Test {
 protected:
  PassResult run(FakeWorkload& workload) {
    assignment.method = measure::method_in(assignment.method, assignment.pass);
    return run_pass(assignment, workload.plugin(), observers, control, {now_ns(), {}, journal, records});
  }

  measure::protocol::Assignment assignment = fake_assignment();
  Observers observers;
  FakeControl control;
  store::StepJournal* journal = nullptr;
  kymo_step_records* records = nullptr;
};

}  // namespace kymo::worker
