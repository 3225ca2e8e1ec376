// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <cuda_runtime_api.h>

#include <deque>
#include <memory>
#include <vector>

namespace kymo::comm {

/// One call, or all calls of a group, from its launch until it is done on the device.
struct Flight {
  Flight();
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;
  ~Flight();

  /// Records the event behind what the stream holds, unless it stands there. Throws std::runtime_error, as landed()
  /// does, on an error of the device.
  void mark();
  /// True once the work before its event is done, which is recorded now if it was not.
  bool landed();

  cudaEvent_t done = nullptr;
  bool launched = false;
  bool marked = false;            ///< the event stands in the stream
  cudaStream_t stream = nullptr;  ///< that the work was queued on
  cudaStream_t caller = nullptr;  ///< the current stream when it was called
  std::vector<at::Tensor> kept;
};

/// Flights under way, and their events for later calls: making an event at each call would cost more than a small
/// message.
class Flights {
 public:
  /// One that nobody uses.
  std::shared_ptr<Flight> take();
  /// Records its event, and keeps it until it has landed.
  void launch(const std::shared_ptr<Flight>& flight);
  /// Lets it go without an event.
  void pass(const std::shared_ptr<Flight>& flight);
  /// One that lands after all that the stream holds.
  void follow(cudaStream_t stream);
  /// Lets go of what the calls that are done worked on. Never waits.
  void reap();
  /// Whether all have landed.
  bool empty() const { return under_way_.empty(); }

 private:
  std::deque<std::shared_ptr<Flight>> under_way_;
  std::deque<std::shared_ptr<Flight>> landed_;  ///< a Work may still hold them
};

}  // namespace kymo::comm
