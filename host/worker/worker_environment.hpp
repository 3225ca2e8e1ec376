// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <string>
#include <vector>

#include "collect/collector.hpp"
#include "event/records.hpp"
#include "measure/protocol.hpp"

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
  std::vector<event::Warning> warnings;                ///< that collectors do not exist for the process's torch
};

/// Environment of a session other than the control server: plugins, collectors, devices and storage of results.
class WorkerEnvironment {
 public:
  virtual ~WorkerEnvironment() = default;
  /// The table of the assignment's plugin file, which is loaded once per process. Throws Error, also if a different
  /// file is already loaded.
  virtual const kymo_plugin& plugin(const measure::protocol::Assignment& assignment) = 0;
  /// The collectors of a pass; every call returns the same objects. Collectors that cannot be loaded are listed in
  /// `dropped_records`.
  virtual Observers observers(measure::Pass pass, measure::DeviceKind device, bool uses_torch) = 0;
  /// Throws collect::Unavailable.
  virtual event::Device device(measure::DeviceKind kind, int index) = 0;
  /// Writes the rank file. Throws Error.
  virtual void store(const measure::protocol::Assignment& assignment, const event::PassRecord& record) = 0;
  /// Writes buffered output of the workload to its file descriptors.
  virtual void flush_output() = 0;
};

}  // namespace kymo::worker
