// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <string>
#include <vector>

#include "event/records.hpp"

namespace kymo::worker {

/// Converts a plugin's checks to records.
std::vector<event::Check> checks_of(const kymo_verification& verification);

/// Combined result of all checks.
struct VerificationResult {
  std::string verification;  ///< "failed" if any failed, "passed" if all passed, else "unavailable"
  std::string detail;        ///< the first check that did not pass, in one line
};
VerificationResult summarize_checks(const std::vector<event::Check>& checks);

}  // namespace kymo::worker
