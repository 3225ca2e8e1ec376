// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analysis/kernel_class.hpp"
#include "event/records.hpp"

namespace kymo::analysis {

/// What derive() must know of a pass.
struct DeriveSetting {
  std::int64_t warmup = 0;  ///< steps below this number are warm-up
  const Classifier* classifier = nullptr;
  bool on_host = false;  ///< the host's processors do the work, not a GPU
};

/// Makes of a pass's events what is stored beside them: places every event (attribute), and fills record.derived from
/// record.trace and record.memory_trace. Adds losses for events that make no sense. Activities are in order of starting
/// afterwards.
void derive(event::PassRecord& record, const DeriveSetting& setting);

}  // namespace kymo::analysis
