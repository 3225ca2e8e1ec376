// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <exception>
#include <optional>
#include <string>

#include "event/records.hpp"
#include "measure/plan.hpp"

namespace kymo::worker {

/// What a call into the plugin came to.
struct Verdict {
  std::string status = "ok";  ///< ok, oom, failed, skipped
  std::string detail;         ///< one line
  std::optional<event::OutOfMemory> out_of_memory;
};

/// What a workload said before it returned.
struct Said {
  std::string message;      ///< of fail()
  std::string skip_reason;  ///< of skip()
};

/// Reads a returned status. A host allocation that LibTorch reports as an ordinary error counts as `oom` too, with the
/// size it names.
Verdict judge(kymo_status returned, const Said& said, measure::DeviceKind device);

/// Status of an exception that a plugin let through.
kymo_status status_of(const std::exception& error);

/// The first line of a message, of bounded length, without control characters.
std::string one_line(const std::string& message);

}  // namespace kymo::worker
