// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "event/records.hpp"

namespace kymo::collect {

/// Compares the clocks of a GPU before, while and after its counters are read, because a profiler could lock them.
/// Readings during which the GPU was idle or throttled say nothing about that.
class ClockWatch {
 public:
  void before(const event::GpuSample& reading);
  void during(const event::GpuSample& reading);
  void after(const event::GpuSample& reading);

  /// What differs, in one line; empty if nothing does. While counting, it takes several readings that all differ.
  std::string difference() const;

 private:
  struct Clocks {
    std::optional<std::int64_t> sm_mhz, memory_mhz;
  };
  static Clocks steady(const event::GpuSample& reading);

  Clocks before_, after_;
  Clocks fastest_;  // while counting
  int readings_ = 0;
};

}  // namespace kymo::collect
