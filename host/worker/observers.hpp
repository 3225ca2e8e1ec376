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

/// What observes a pass, in the order in which it is armed; it is disarmed in the reverse order. Owned by the
/// equipment.
struct Observers {
  std::vector<Observer> all;
  std::vector<event::Loss> losses;  ///< collectors that could not be loaded, with their reasons
};

}  // namespace kymo::worker
