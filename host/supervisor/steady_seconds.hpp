// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/clock.hpp"

namespace kymo::supervisor {

/// Converts a time of the host clock to seconds.
constexpr double steady_seconds(std::int64_t host_ns) { return static_cast<double>(host_ns) * 1e-9; }

/// The current time of the clock used for deadlines.
inline double steady_seconds() { return steady_seconds(now_ns()); }

}  // namespace kymo::supervisor
