// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.hpp"

namespace kymo::supervisor {

/// How long this process was suspended in total.
inline std::atomic<std::int64_t> suspended_ns{0};

/// Converts a time of the host clock to seconds of the clock used for deadlines, which stands still while this process
/// is suspended.
inline double steady_seconds(std::int64_t host_ns) { return static_cast<double>(host_ns - suspended_ns) * 1e-9; }

/// The current time of the clock used for deadlines.
inline double steady_seconds() { return steady_seconds(now_ns()); }

}  // namespace kymo::supervisor
