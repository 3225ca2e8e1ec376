// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "event/records.hpp"
#include "measure/plan.hpp"

namespace kymo::worker {

/// Result of a call into the plugin.
struct Verdict {
  std::string status = "ok";  ///< ok, oom, failed, skipped
  std::string detail;         ///< one line
  std::optional<event::OutOfMemory> out_of_memory;
};

/// Messages that a workload reported before it returned.
struct Reported {
  std::string message;      ///< of fail()
  std::string skip_reason;  ///< of skip()
};

/// Classifies a returned status. A host allocation failure that LibTorch reports as an ordinary error also counts as
/// `oom`, with the size in its message.
Verdict classify(kymo_status returned, const Reported& reported, measure::DeviceKind device);

/// The status for an exception thrown by a plugin.
kymo_status status_of(const std::exception& error);

/// The first line of a message, limited in length and without control characters.
std::string first_line(std::string_view message);

}  // namespace kymo::worker
