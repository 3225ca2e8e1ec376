// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "collect/collector.hpp"
#include "event/records.hpp"

namespace kymo::worker {

/// A collector and, if it provides one, its device timer.
struct Observer {
  collect::Collector* collector = nullptr;
  collect::DeviceTimer* timer = nullptr;
};

/// The collectors of a pass in arming order; they are disarmed in reverse order. Owned by the worker's environment.
struct Observers {
  std::vector<Observer> all;
  std::vector<event::DroppedRecords> dropped_records;  ///< collectors that could not be loaded, with the reasons
};

}  // namespace kymo::worker
