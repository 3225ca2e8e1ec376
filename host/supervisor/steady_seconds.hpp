// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace kymo::supervisor {

/// The clock of deadlines, in seconds from any moment.
inline double steady_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace kymo::supervisor
