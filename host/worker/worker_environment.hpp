// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <string>

#include "event/records.hpp"
#include "measure/protocol.hpp"
#include "worker/observers.hpp"

namespace kymo::worker {

/// Environment of a session other than the control server: plugins, collectors, devices and storage of results.
class WorkerEnvironment {
 public:
  virtual ~WorkerEnvironment() = default;
  /// The table of a plugin file, which is loaded once per process. Throws Error, also if a different file is already
  /// loaded.
  virtual const kymo_plugin& plugin(const std::string& file) = 0;
  /// The collectors of a pass; every call returns the same objects. Collectors that cannot be loaded are listed in
  /// `dropped_records`.
  virtual Observers observers(measure::Pass pass, measure::DeviceKind device, bool uses_torch) = 0;
  /// Throws collect::Unavailable.
  virtual event::Device device(measure::DeviceKind kind, int index) = 0;
  /// Writes the rank file. Throws Error.
  virtual void store(const measure::protocol::Assignment& assignment, const event::PassRecord& record) = 0;
};

}  // namespace kymo::worker
