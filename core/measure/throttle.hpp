// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "event/records.hpp"

namespace kymo::measure {

/// NVML's bits for a clock lowered by heat or by hardware. A software power cap is no throttling: it is how the GPU
/// normally runs.
inline constexpr std::int64_t kHardwareSlowdown = 0x8;
inline constexpr std::int64_t kSoftwareThermalSlowdown = 0x20;
inline constexpr std::int64_t kHardwareThermalSlowdown = 0x40;
inline constexpr std::int64_t kHardwarePowerBrake = 0x80;

/// A clock below this part of the usual one counts as slowed down.
inline constexpr double kUsualClockShare = 0.75;

/// The steps (sorted) whose reading shows thermal or hardware slowdown, or a multiprocessor clock below 75 % of the
/// usual: the median of `readings`.
std::vector<std::int64_t> throttled_readings(const std::vector<event::GpuSample>& readings);

/// Sets Sample::throttled from the readings, which are in the order of steps. Readings may be sparser than steps:
/// a step goes by the first reading taken at or after it, else by the last one. Without readings nothing is throttled.
void mark_throttled(std::vector<event::Sample>& samples, const std::vector<event::GpuSample>& readings);

}  // namespace kymo::measure
