// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analysis/kernel_class.hpp"
#include "event/records.hpp"

namespace kymo::analysis {

/// Properties of a pass that derive() depends on.
struct DeriveSetting {
  std::int64_t warmup = 0;  ///< number of warm-up steps
  const Classifier* classifier = nullptr;
  bool on_host = false;  ///< the work runs on the host processors instead of a GPU
};

/// Attributes all events of a pass (attribute()) and fills record.derived from record.trace and record.memory_trace.
/// Adds a DroppedRecords entry for inconsistent events. Activities are sorted by start afterwards.
void derive(event::PassRecord& record, const DeriveSetting& setting);

}  // namespace kymo::analysis
