// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "event/records.hpp"

namespace kymo::collect {

/// NVML, loaded at run time: it is part of the driver, which may be missing.
class Nvml {
 public:
  /// Throws Unavailable with the reason.
  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::string driver_version() const;

  /// Selects a GPU by UUID. Throws Unavailable.
  void select(const std::string& uuid);
  /// Memory use of each GPU of the host; available before the CUDA device is known.
  struct Use {
    std::string uuid;
    std::int64_t used_bytes = 0;
  };
  std::vector<Use> use_of_all() const;
  /// Reads the current state of the selected GPU; unsupported values stay empty. Takes between about 0.1 ms and a few
  /// milliseconds.
  void read(event::GpuSample& sample) const;
  /// Returns the used memory of the whole selected GPU, or nullopt if it is not supported. Takes about 10 µs. May be
  /// called concurrently with other readings.
  std::optional<std::int64_t> used_bytes() const;
  /// Returns the part of it that this process uses, or nullopt if the driver does not report it or does not know the
  /// process id (for example in a container).
  std::optional<std::int64_t> process_bytes() const;
  /// Whether the driver reports the utilization of the selected GPU.
  bool reports_utilization() const;
  /// Returns the utilization of the whole selected GPU since the last call, without times, or nullopt on failure; the
  /// first call begins. From Hopper on by GPM (GPU performance monitoring), in 0.3 ms; otherwise only the fraction of
  /// the time with kernels, of the last interval of the driver, up to a second long. May be called concurrently with
  /// other readings, by one thread.
  std::optional<event::GpuUtilization> utilization_since_last();
  std::optional<std::int64_t> max_sm_clock_mhz() const;
  std::optional<std::int64_t> max_memory_clock_mhz() const;

 private:
  struct Functions;
  std::unique_ptr<Functions> functions_;
};

}  // namespace kymo::collect
