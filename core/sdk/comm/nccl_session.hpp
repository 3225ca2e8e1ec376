// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <chrono>
#include <string>

#include "call.hpp"
#include "meeting.hpp"

namespace kymo::comm {

/// What NCCL and the CUDA runtime say of a result, in one line.
std::string words_of(ncclResult_t result);
/// Throws std::runtime_error that begins with `what`.
void check_cuda(cudaError_t result, const char* what);

/// Makes a device the current one. Where it is already this only looks; c10's guard asks the driver twice whether the
/// device has a context, which is a part of a small message's time.
class OnDevice {
 public:
  /// What goes wrong here, the calls that follow say.
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

/// NCCL's communicator and whether it may still be used. It is shared with Work, which may outlive the Communicator.
class NcclSession {
 public:
  /// Waits for all ranks to join, and no longer than the deadline or until the run is cancelled. Throws
  /// std::runtime_error.
  NcclSession(const Context& ctx, const Meeting& meeting, const Options& options);
  NcclSession(const NcclSession&) = delete;
  NcclSession& operator=(const NcclSession&) = delete;
  ~NcclSession() { close(); }

  ncclComm_t get() const { return comm_; }
  const Context& context() const { return ctx_; }
  bool failed() const { return health_.failed(); }

  /// Throws std::runtime_error after a failure, also one that NCCL met since.
  void check();
  /// Takes the result of a call of NCCL that `call` names. Throws std::runtime_error if it failed.
  void accept(ncclResult_t result, const std::string& call);
  /// Aborts what is under way on the device; from now on check() throws this.
  void fail(const std::string& why) noexcept;
  /// After it check() throws. Where not all ranks come to it, what the others still wait for is aborted.
  void close() noexcept;

 private:
  /// The result of what a communicator does that was made non-blocking (NCCL_COMM_BLOCKING=0).
  ncclResult_t settle();

  const Context ctx_;
  const Meeting meeting_;
  const std::chrono::seconds deadline_;
  ncclComm_t comm_ = nullptr;
  Health health_;
};

}  // namespace kymo::comm
