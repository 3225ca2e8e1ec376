// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "event/records.hpp"

namespace kymo::collect {

/// NVML, opened at run time: it comes with the driver, and a machine may lack both.
class Nvml {
 public:
  /// Throws Unavailable with the reason.
  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::string driver_version() const;

  /// One GPU, found by its UUID; throws Unavailable.
  void select(const std::string& uuid);
  /// Memory in use on each GPU of the machine, also before CUDA says which of them is meant.
  struct Use {
    std::string uuid;
    std::int64_t used_bytes = 0;
  };
  std::vector<Use> use_of_all() const;
  /// What the selected GPU reports now; what it does not report stays empty. Costs between some 0.1 ms and a few
  /// milliseconds.
  void read(event::GpuSample& sample) const;
  /// Memory of the whole selected GPU; nothing if it does not tell. Costs some 10 µs. May be called beside other
  /// readings.
  std::optional<std::int64_t> used_bytes() const;
  /// Of that, what this process holds; nothing if the driver does not tell, or does not know the process by its number
  /// (in a container, say).
  std::optional<std::int64_t> process_bytes() const;
  std::optional<std::int64_t> max_sm_clock_mhz() const;
  std::optional<std::int64_t> max_memory_clock_mhz() const;

 private:
  struct Functions;
  std::unique_ptr<Functions> functions_;
};

}  // namespace kymo::collect
