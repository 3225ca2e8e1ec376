// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "collect/cuda/periodic_thread.hpp"
#include "event/records.hpp"

namespace kymo::collect {

/// Measures the utilization of a GPU in intervals that follow each other, on a background thread.
class UtilizationSampler {
 public:
  /// Returns the utilization since the last call, whose times the sampler sets, or nullopt on failure. The first call
  /// begins the first interval; its result is not used.
  using Read = std::function<std::optional<event::GpuUtilization>()>;

  struct Setting {
    std::int64_t run_start_ns = 0;
    /// In intervals of 20 ms, an H100 reports 0 for a GPU that is busy.
    std::int64_t interval_ns = 100'000'000;
    std::size_t max_intervals = 65'536;  ///< at this number, neighboring intervals become one, and new ones are longer
  };

  UtilizationSampler(Read read, const Setting& setting);

  /// Throws std::system_error.
  void start();
  void stop() { thread_.stop(); }
  /// Adds the intervals since the last call.
  void add_new(std::vector<event::GpuUtilization>& intervals);
  /// Moves all intervals and the count of failed readings into `record`. Call stop() first.
  void take(event::PassRecord& record);

 private:
  std::int64_t sample();
  void merge_neighbors();

  const Read read_;
  const Setting setting_;
  std::mutex mutex_;
  std::int64_t interval_ns_;
  std::optional<std::int64_t> start_ns_;  ///< of the interval that is being measured
  std::vector<event::GpuUtilization> intervals_;
  std::size_t added_ = 0;  ///< by add_new()
  std::int64_t failed_ = 0;
  PeriodicThread thread_;  // uses the members above, so it is destroyed first
};

}  // namespace kymo::collect
