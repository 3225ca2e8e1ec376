// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <functional>

namespace kymo::collect {

/// Reports each launch of a kernel or CUDA graph before it happens, on the thread that launches it.
class LaunchWatch {
 public:
  struct Calls {
    std::function<void(const char* symbol)> kernel;  ///< `symbol`: mangled name, or null if CUPTI does not know it
    std::function<void()> graph;
  };

  /// Throws Unavailable if another client of CUPTI is subscribed.
  explicit LaunchWatch(Calls calls);
  ~LaunchWatch();
  LaunchWatch(const LaunchWatch&) = delete;
  LaunchWatch& operator=(const LaunchWatch&) = delete;

 private:
  static void CUPTIAPI called(void* watch, CUpti_CallbackDomain domain, CUpti_CallbackId call, const void* detail);

  const Calls calls_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
};

}  // namespace kymo::collect
