// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "event/trace.hpp"
#include "worker/control_client.hpp"

namespace kymo::worker {

/// Compares this process's clock with the supervisor's. If both run in the same boot of the same machine, the result is
/// exact and takes one query; otherwise the fastest of several round trips is used. host_ns is relative to the start of
/// the run. Returns nullopt if the run is cancelled in the meantime. Throws ConnectionLost.
std::optional<event::ClockSync> compare_with_supervisor(ControlClient& control, std::int64_t run_start_ns);

/// Converts a time of this machine's clock to the supervisor's clock; nullopt if the run is cancelled.
std::optional<std::int64_t> to_supervisor_clock(ControlClient& control, std::int64_t host_ns);

}  // namespace kymo::worker
