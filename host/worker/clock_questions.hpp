// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "event/trace.hpp"
#include "worker/control_client.hpp"

namespace kymo::worker {

/// Compares this process's clock with the supervisor's: exactly and with one question where both run under one boot of
/// one machine, else by the fastest of several questions. host_ns is relative to the start of the run. nullopt if the
/// run is cancelled meanwhile. Throws ConnectionLost.
std::optional<event::ClockSync> compare_with_supervisor(ControlClient& control, std::int64_t run_start_ns);

/// A moment of this machine's clock on the supervisor's; nullopt once the run is cancelled.
std::optional<std::int64_t> on_supervisors_clock(ControlClient& control, std::int64_t host_ns);

}  // namespace kymo::worker
