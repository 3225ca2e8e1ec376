// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worker/step_driver.hpp"

namespace kymo::worker {

/// Timing sync: each step begins and ends with a synchronization.
class SyncedSteps final : public StepDriver {
 public:
  using StepDriver::StepDriver;

  void end() override;
  void add_records(event::PassRecord& record, std::optional<std::int64_t> step_ns) const override;

 private:
  std::int64_t empty_interval_ns_ = 0;  // time that an interval without a step takes
};

}  // namespace kymo::worker
