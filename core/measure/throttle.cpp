// SPDX-License-Identifier: Apache-2.0
#include "measure/throttle.hpp"

#include <algorithm>
#include <optional>

namespace kymo::measure {
namespace {

constexpr std::int64_t kSlowdownBits =
    kHardwareSlowdown | kSoftwareThermalSlowdown | kHardwareThermalSlowdown | kHardwarePowerBrake;

std::optional<double> usual_clock_mhz(const std::vector<event::GpuSample>& readings) {
  std::vector<std::int64_t> clocks;
  for (const auto& reading : readings) {
    if (reading.sm_clock_mhz) clocks.push_back(*reading.sm_clock_mhz);
  }
  if (clocks.empty()) return std::nullopt;
  const auto middle = clocks.begin() + static_cast<std::ptrdiff_t>(clocks.size() / 2);
  std::nth_element(clocks.begin(), middle, clocks.end());
  return static_cast<double>(*middle);
}

}  // namespace

std::vector<std::int64_t> throttled_readings(const std::vector<event::GpuSample>& readings) {
  const std::optional<double> usual = usual_clock_mhz(readings);
  std::vector<std::int64_t> steps;
  for (const auto& reading : readings) {
    const bool slowed = (reading.throttle_reasons & kSlowdownBits) != 0;
    const bool low =
        usual && reading.sm_clock_mhz && static_cast<double>(*reading.sm_clock_mhz) < kUsualClockShare * *usual;
    if (slowed || low) steps.push_back(reading.step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

void mark_throttled(std::vector<event::Sample>& samples, const std::vector<event::GpuSample>& readings) {
  if (readings.empty()) return;
  const std::vector<std::int64_t> throttled = throttled_readings(readings);
  if (throttled.empty()) return;
  for (auto& sample : samples) {
    auto reading =
        std::lower_bound(readings.begin(), readings.end(), sample.step,
                         [](const event::GpuSample& candidate, std::int64_t step) { return candidate.step < step; });
    if (reading == readings.end()) --reading;
    sample.throttled = std::binary_search(throttled.begin(), throttled.end(), reading->step);
  }
}

}  // namespace kymo::measure
