// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "collect/cuda/periodic_thread.hpp"
#include "collect/execution_context.hpp"
#include "event/records.hpp"

namespace kymo::collect {

/// Samples the used memory of a whole GPU at defined moments and, optionally, periodically on a background thread.
class DeviceMemorySampler {
 public:
  struct Reading {
    std::int64_t used_bytes = 0;
    std::optional<std::int64_t> process_bytes;
  };
  /// Reads the GPU's memory, optionally including the memory of this process, which takes longer. Returns nullopt on
  /// failure. Called from two threads.
  using Read = std::function<std::optional<Reading>(bool with_process)>;

  struct Setting {
    const ExecutionContext* execution_context = nullptr;  ///< provides the step of background readings; may be nullptr
    std::int64_t run_start_ns = 0;
    std::int64_t interval_ns = 5'000'000;  ///< interval of background readings
    std::size_t max_background =
        65'536;  ///< at this number, every other background reading is dropped and the interval doubles
  };

  DeviceMemorySampler(Read read, const Setting& setting);

  /// Takes a reading now.
  void note(const char* moment, std::int32_t step, bool with_process);
  /// Adds a reading taken elsewhere.
  void add(event::DeviceMemory reading);
  /// Throws std::system_error.
  void start_background();
  void stop_background();
  /// Adds the readings since the last call.
  void add_new(std::vector<event::DeviceMemory>& readings);
  /// Moves all readings, sorted by time, and the counts of failed and dropped readings into `record`. Call
  /// stop_background() first.
  void take(event::PassRecord& record);

 private:
  std::int64_t sample();
  void thin();

  const Read read_;
  const Setting setting_;
  std::mutex mutex_;
  std::int64_t interval_ns_;
  std::vector<event::DeviceMemory> moments_;
  std::vector<event::DeviceMemory> background_;
  // Number of readings that add_new() has added:
  std::size_t added_moments_ = 0;
  std::size_t added_background_ = 0;
  std::int64_t failed_ = 0;
  std::int64_t thinned_out_ = 0;
  PeriodicThread thread_;  // uses the members above, so it is destroyed first
};

}  // namespace kymo::collect
