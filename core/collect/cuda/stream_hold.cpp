// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/stream_hold.hpp"

#include <atomic>
#include <stdexcept>
#include <string>

#include "collect/cuda/cuda_error.hpp"

namespace kymo::collect {
namespace {

constexpr const char* kWaitValue = "cuStreamWaitValue32";
constexpr unsigned int kWaitValueVersion = 12000;  // CUDA version since which all devices on Linux support it

void* find_wait_value() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  check_cuda(cudaGetDriverEntryPointByVersion(kWaitValue, &function, kWaitValueVersion, cudaEnableDefault, &found),
             "querying cuStreamWaitValue32");
  if (found != cudaDriverEntryPointSuccess || !function)
    throw std::runtime_error("the driver does not provide cuStreamWaitValue32; update the driver");
  return function;
}

}  // namespace

StreamHold::StreamHold() : wait_value_(reinterpret_cast<WaitValue>(find_wait_value())) {
  void* gate = nullptr;
  void* on_device = nullptr;
  check_cuda(cudaHostAlloc(&gate, sizeof(std::uint32_t), cudaHostAllocMapped),
             "allocating the wait value of a blocked stream");
  gate_ = static_cast<volatile std::uint32_t*>(gate);
  *gate_ = 0;
  try {
    check_cuda(cudaHostGetDevicePointer(&on_device, gate, 0), "mapping the wait value of a blocked stream");
    gate_on_device_ = reinterpret_cast<CUdeviceptr>(on_device);
    watcher_ = std::thread([this] { watch(); });
  } catch (...) {
    cudaFreeHost(gate);
    throw;
  }
}

StreamHold::~StreamHold() {
  {
    const std::lock_guard lock(mutex_);
    if (held_) open_gate();
    ending_ = true;
  }
  changed_.notify_one();
  watcher_.join();
  // Wait until the device no longer reads the value.
  cudaDeviceSynchronize();
  cudaFreeHost(const_cast<std::uint32_t*>(gate_));
}

void StreamHold::block(cudaStream_t stream) {
  {
    const std::lock_guard lock(mutex_);
    if (held_) throw std::runtime_error("a stream is already blocked");
    ++holds_;
    held_ = true;
    timed_out_ = false;
    deadline_ = std::chrono::steady_clock::now() + kTimeout;
  }
  changed_.notify_one();
  const CUresult result = wait_value_(stream, gate_on_device_, holds_, CU_STREAM_WAIT_VALUE_GEQ);
  if (result == CUDA_SUCCESS) return;
  release();
  throw std::runtime_error("CUDA error, blocking a stream: cuStreamWaitValue32 returned " + std::to_string(result));
}

bool StreamHold::release() {
  bool in_time = true;
  {
    const std::lock_guard lock(mutex_);
    if (held_) open_gate();
    in_time = !timed_out_;
    timed_out_ = false;
  }
  changed_.notify_one();
  return in_time;
}

void StreamHold::open_gate() {
  held_ = false;
  std::atomic_thread_fence(std::memory_order_release);
  *gate_ = holds_;
}

void StreamHold::watch() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (!held_) {
      changed_.wait(lock);
    } else if (std::chrono::steady_clock::now() < deadline_) {
      changed_.wait_until(lock, deadline_);
    } else {
      timed_out_ = true;
      open_gate();
    }
  }
}

}  // namespace kymo::collect
