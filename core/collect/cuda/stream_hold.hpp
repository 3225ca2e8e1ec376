// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace kymo::collect {

/// Holds a stream until its work is queued: the stream waits for a word of host memory. A thread of its own writes the
/// word if the holder does not come back in time, because the holder may be waiting for the very stream that it holds.
class StreamHold {
 public:
  static constexpr std::chrono::milliseconds kTimeout{1000};

  /// For the current device; throws std::runtime_error.
  StreamHold();
  /// Releases what is held.
  ~StreamHold();
  StreamHold(const StreamHold&) = delete;
  StreamHold& operator=(const StreamHold&) = delete;

  /// What is queued on the stream from here on waits; one stream at a time. Throws std::runtime_error.
  void block(cudaStream_t stream);
  /// Lets the stream go on; false if the time-out did so before. True if nothing is held.
  bool release();

 private:
  using WaitValue = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned int);

  void watch();
  void open_gate();  // mutex_ is held

  WaitValue wait_value_ = nullptr;
  volatile std::uint32_t* gate_ = nullptr;  // holds that are over; the device reads it
  CUdeviceptr gate_on_device_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint32_t holds_ = 0;  // made so far
  bool held_ = false;
  bool timed_out_ = false;
  bool ending_ = false;
  std::chrono::steady_clock::time_point deadline_;
  std::thread watcher_;
};

}  // namespace kymo::collect
