// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "collect/standpoint.hpp"
#include "event/records.hpp"

namespace kymo::collect {

/// Memory in use on a whole GPU over time: at named moments and, on request, in the background in between.
class DeviceMemorySampler {
 public:
  struct Reading {
    std::int64_t used_bytes = 0;
    std::optional<std::int64_t> process_bytes;
  };
  /// Reads the GPU now, with or without what this process holds, which takes longer; nothing if that fails. Called from
  /// two threads.
  using Read = std::function<std::optional<Reading>(bool with_process)>;

  struct Setting {
    const Standpoint* standpoint = nullptr;  ///< says the step of readings in the background; may be nullptr
    std::int64_t run_start_ns = 0;
    std::int64_t interval_ns = 5'000'000;  ///< between readings in the background
    std::size_t most_background =
        65'536;  ///< when there are as many, every other one is given up and the interval doubles
  };

  DeviceMemorySampler(Read read, const Setting& setting);
  ~DeviceMemorySampler();
  DeviceMemorySampler(const DeviceMemorySampler&) = delete;
  DeviceMemorySampler& operator=(const DeviceMemorySampler&) = delete;

  /// Reads now.
  void note(const char* moment, std::int32_t step, bool with_process);
  /// A reading that was made otherwise.
  void add(event::DeviceMemory reading);
  void start_background();
  /// Waits for the thread to end; does nothing if there is none.
  void stop_background();
  /// Hands all readings over in order of time, and as losses those that failed or were given up. The background must
  /// have been stopped.
  void take(event::PassRecord& record);

 private:
  void sample_until_stopped();
  void thin();

  const Read read_;
  const Setting setting_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
  bool stopping_ = false;
  std::int64_t interval_ns_;
  std::vector<event::DeviceMemory> moments_;
  std::vector<event::DeviceMemory> background_;
  std::int64_t failed_ = 0;
  std::int64_t given_up_ = 0;
};

}  // namespace kymo::collect
