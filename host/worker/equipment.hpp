// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <string>

#include "event/records.hpp"
#include "measure/protocol.hpp"
#include "worker/observers.hpp"

namespace kymo::worker {

/// What a session works with besides the control server: plugins, collectors, devices and the place for results.
class Equipment {
 public:
  virtual ~Equipment() = default;
  /// The table of a plugin file, loaded once per process. Throws Error; also for a second, different file.
  virtual const kymo_plugin& plugin(const std::string& file) = 0;
  /// The collectors of a pass; the same objects in each call. Those that cannot be loaded are among the losses.
  virtual Observers observers(measure::Pass pass, measure::DeviceKind device, bool uses_torch) = 0;
  /// Throws collect::Unavailable.
  virtual event::Device device(measure::DeviceKind kind, int index) = 0;
  /// Writes the rank file. Throws Error.
  virtual void store(const measure::protocol::Assignment& assignment, const event::PassRecord& record) = 0;
};

}  // namespace kymo::worker
