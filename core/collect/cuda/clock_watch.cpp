// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/clock_watch.hpp"

#include <algorithm>

namespace kymo::collect {
namespace {

/// NVML's reasons for a lower clock, except for a setting of the clocks: idle, power, temperature and other GPUs.
constexpr std::int64_t kExplained = 0x1 | 0x4 | 0x8 | 0x10 | 0x20 | 0x40 | 0x80;
/// A GPU steps its clock by 15 MHz when its temperature or power changes; a profiler lowers it to the base clock.
constexpr double kSameClock = 0.97;
constexpr int kMinReadings = 3;

void raise(std::optional<std::int64_t>& highest, std::optional<std::int64_t> value) {
  if (value) highest = std::max(*value, highest.value_or(*value));
}

std::string lowered(const char* clock, std::optional<std::int64_t> from, std::optional<std::int64_t> to,
                    const char* when) {
  if (!from || !to || static_cast<double>(*to) >= kSameClock * static_cast<double>(*from)) return "";
  return std::string("the ") + clock + " clock of the GPU was " + std::to_string(*from) +
         " MHz before counters were read and " + std::to_string(*to) + " MHz " + when +
         "; 'nvidia-smi -q -d CLOCK' shows whether a tool has locked it";
}

}  // namespace

ClockWatch::Clocks ClockWatch::steady(const event::GpuSample& reading) {
  if ((reading.throttle_reasons & kExplained) != 0) return {};
  return {reading.sm_clock_mhz, reading.memory_clock_mhz};
}

void ClockWatch::before(const event::GpuSample& reading) { before_ = steady(reading); }

void ClockWatch::during(const event::GpuSample& reading) {
  const Clocks clocks = steady(reading);
  if (clocks.sm_mhz || clocks.memory_mhz) ++readings_;
  raise(fastest_.sm_mhz, clocks.sm_mhz);
  raise(fastest_.memory_mhz, clocks.memory_mhz);
}

void ClockWatch::after(const event::GpuSample& reading) { after_ = steady(reading); }

std::string ClockWatch::difference() const {
  for (const auto& [clocks, when] :
       {std::pair(readings_ >= kMinReadings ? fastest_ : Clocks(), "meanwhile"), std::pair(after_, "afterwards")}) {
    if (std::string text = lowered("SM", before_.sm_mhz, clocks.sm_mhz, when); !text.empty()) return text;
    if (std::string text = lowered("memory", before_.memory_mhz, clocks.memory_mhz, when); !text.empty()) return text;
  }
  return "";
}

}  // namespace kymo::collect
