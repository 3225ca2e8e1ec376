// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "event/records.hpp"

namespace kymo::measure {

/// NVML throttle reasons for thermal and hardware slowdown. The software power cap is excluded, because it is part of
/// normal operation.
inline constexpr std::int64_t kHardwareSlowdown = 0x8;
inline constexpr std::int64_t kSoftwareThermalSlowdown = 0x20;
inline constexpr std::int64_t kHardwareThermalSlowdown = 0x40;
inline constexpr std::int64_t kHardwarePowerBrake = 0x80;

/// Fraction of the usual clock below which the GPU counts as throttled.
inline constexpr double kUsualClockShare = 0.75;

/// Returns the steps, in ascending order, whose sample shows a thermal or hardware slowdown, or an SM clock below 75 %
/// of the median of `readings`.
std::vector<std::int64_t> throttled_readings(const std::vector<event::GpuSample>& readings);

/// Sets Sample::throttled from GPU samples sorted by step. There may be fewer GPU samples than steps: each step uses
/// the first one taken at or after it, otherwise the last one. Without GPU samples no step is throttled.
void mark_throttled(std::vector<event::Sample>& samples, const std::vector<event::GpuSample>& readings);

}  // namespace kymo::measure
