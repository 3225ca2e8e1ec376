// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <cuda_runtime_api.h>

#include <deque>
#include <memory>
#include <vector>

namespace kymo::comm {

/// An in-flight op: one call, or all calls of a group, from launch to completion on the device.
struct InFlightOp {
  InFlightOp();
  InFlightOp(const InFlightOp&) = delete;
  InFlightOp& operator=(const InFlightOp&) = delete;
  ~InFlightOp();

  /// Records the completion event on the stream if it is not recorded yet. mark() and completed() throw
  /// std::runtime_error on device errors.
  void mark();
  /// Marks the op after its work was queued.
  void launch();
  /// Returns true if the work before the event is complete. Records the event first if necessary.
  bool completed();

  cudaEvent_t done = nullptr;
  bool launched = false;
  bool marked = false;            ///< the event is recorded on the stream
  bool captured = false;          ///< into a CUDA graph, so that the event has no state
  cudaStream_t stream = nullptr;  ///< stream that the work is queued on
  cudaStream_t caller = nullptr;  ///< current stream at the time of the call
  std::vector<at::Tensor> kept;
};

/// In-flight ops and a pool of completed ones. Events are reused, because creating one per call would cost more than a
/// small message.
class InFlightOps {
 public:
  /// Returns an unused op.
  std::shared_ptr<InFlightOp> take();
  /// Records the event of an op and keeps the op until it is complete.
  void launch(const std::shared_ptr<InFlightOp>& op);
  /// Returns an op to the pool without recording an event.
  void pass(const std::shared_ptr<InFlightOp>& op);
  /// Adds an op that completes when all work already queued on `stream` is complete.
  void follow(cudaStream_t stream);
  /// Releases the tensors of completed ops. Never blocks.
  void release_completed();
  /// True if no op is in flight.
  bool empty() const { return pending_.empty(); }

 private:
  std::deque<std::shared_ptr<InFlightOp>> pending_;
  std::deque<std::shared_ptr<InFlightOp>> completed_;  ///< a Work may still refer to them
};

}  // namespace kymo::comm
