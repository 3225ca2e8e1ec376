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

/// Blocks a stream until its work is queued: the stream waits for a value in host memory. A watchdog thread writes the
/// value after a timeout, because the blocking thread may itself be waiting for the stream.
class StreamHold {
 public:
  static constexpr std::chrono::milliseconds kTimeout{1000};

  /// Allocates resources for the current device. Throws std::runtime_error.
  StreamHold();
  /// Unblocks the stream.
  ~StreamHold();
  StreamHold(const StreamHold&) = delete;
  StreamHold& operator=(const StreamHold&) = delete;

  /// Blocks work queued on the stream from now on; only one stream can be blocked at a time. Throws std::runtime_error.
  void block(cudaStream_t stream);
  /// Unblocks the stream. Returns false if the timeout already did; true if no stream is blocked.
  bool release();

 private:
  using WaitValue = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned int);

  void watch();
  void open_gate();  // requires mutex_

  WaitValue wait_value_ = nullptr;
  volatile std::uint32_t* gate_ = nullptr;  // number of completed holds; read by the device
  CUdeviceptr gate_on_device_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint32_t holds_ = 0;  // number of holds so far
  bool held_ = false;
  bool timed_out_ = false;
  bool ending_ = false;
  std::chrono::steady_clock::time_point deadline_;
  std::thread watcher_;
};

}  // namespace kymo::collect
