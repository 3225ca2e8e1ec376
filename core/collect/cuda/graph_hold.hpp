// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <atomic>
#include <thread>

#include "collect/cuda/stream_hold.hpp"

namespace kymo::collect {

/// Lets the device begin a CUDA graph only when its launch has returned. While CUPTI records, a launch takes the host
/// milliseconds, and the device would wait for it between the graph's first kernels, which would look like idle time of
/// the first phase.
///
/// One graph is held at a time; those that other threads launch meanwhile are not held. A graph whose launch waits for
/// the device itself is released by StreamHold's timeout, and no graph is held from then on.
class GraphHold {
 public:
  /// Allocates resources for the current device. Throws std::runtime_error.
  GraphHold() = default;

  /// Before the launch `call`, whose parameters are `params`. Any thread.
  void begin_launch(CUpti_CallbackId call, const void* params) noexcept;
  /// After the launch that this thread began last. Any thread.
  void end_launch() noexcept;

 private:
  StreamHold hold_;
  std::atomic<std::thread::id> holder_{};  // thread whose launch is held
  std::atomic<bool> usable_{true};
};

}  // namespace kymo::collect
