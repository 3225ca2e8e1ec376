// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <exception>
#include <string>
#include <string_view>

#include "measure/outcome.hpp"
#include "measure/plan.hpp"

namespace kymo::worker {

/// Messages that a workload reported before it returned.
struct Reported {
  std::string message;      ///< of fail()
  std::string skip_reason;  ///< of skip()
};

/// Classifies a status returned by the plugin: ok, oom, failed or skipped. A host allocation failure that LibTorch
/// reports as an ordinary error also counts as `oom`, with the size in its message.
measure::Outcome classify(kymo_status returned, const Reported& reported, measure::DeviceKind device);

/// The status for an exception thrown by a plugin.
kymo_status status_of(const std::exception& error);

/// The first line of a message, limited in length and without control characters.
std::string first_line(std::string_view message);

}  // namespace kymo::worker
