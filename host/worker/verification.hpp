// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <vector>

#include "measure/outcome.hpp"

namespace kymo::worker {

/// Converts a plugin's checks to records.
std::vector<event::Check> checks_of(const kymo_verification& verification);

/// Combined result of all checks: failed if any failed. The detail is the first of the worst checks, in one line; empty
/// if all passed.
measure::Outcome summarize_checks(const std::vector<event::Check>& checks);

}  // namespace kymo::worker
