// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <chrono>
#include <string>

#include "call.hpp"
#include "rendezvous.hpp"

namespace kymo::comm {

/// Formats the error messages of NCCL and the CUDA runtime for a result in one line.
std::string to_string(ncclResult_t result);
/// Throws std::runtime_error with a message that starts with `what`.
void check_cuda(cudaError_t result, const char* what);

/// Sets the current device. If it is already current, this is a single query; c10's guard queries the driver twice for
/// a context, which takes a measurable part of a small message's time.
class OnDevice {
 public:
  /// Errors are not reported here; the CUDA calls that follow report them.
  explicit OnDevice(int device) noexcept : device_(device), before_(device) {
    cudaGetDevice(&before_);
    if (before_ != device_) cudaSetDevice(device_);
  }
  ~OnDevice() {
    if (before_ != device_) cudaSetDevice(before_);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  const int device_;
  int before_;
};

/// An NCCL communicator and its error state. Shared with Work objects, which may outlive the Communicator.
class NcclSession {
 public:
  /// Waits until all ranks have joined. Throws std::runtime_error when the deadline passes or the run is cancelled.
  NcclSession(const Context& ctx, const JoinedRendezvous& rendezvous, const Options& options);
  NcclSession(const NcclSession&) = delete;
  NcclSession& operator=(const NcclSession&) = delete;
  ~NcclSession() { close(); }

  ncclComm_t get() const { return comm_; }
  const Context& context() const { return ctx_; }
  bool failed() const { return health_.failed(); }

  /// Throws std::runtime_error if the communicator has failed, including asynchronous NCCL errors.
  void check();
  /// Checks the result of the NCCL call named `call`. Throws std::runtime_error if it failed.
  void accept(ncclResult_t result, const std::string& call);
  /// Aborts in-flight operations. Subsequent calls of check() throw `why`.
  void fail(const std::string& why) noexcept;
  /// Closes the communicator; check() throws afterwards. If not all ranks close it, in-flight operations of the other
  /// ranks are aborted.
  void close() noexcept;

 private:
  /// Waits for a communicator that is non-blocking because of NCCL_COMM_BLOCKING=0 and returns its result.
  ncclResult_t settle();

  const Context ctx_;
  const JoinedRendezvous rendezvous_;
  const std::chrono::seconds deadline_;
  ncclComm_t comm_ = nullptr;
  Health health_;
};

}  // namespace kymo::comm
