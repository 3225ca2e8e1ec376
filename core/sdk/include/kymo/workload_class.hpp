// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "context.hpp"
#include "verification.hpp"

namespace kymo {

/// Base class of a workload: something with a repeatable step. Derive from it, add `static kymo::Descriptor
/// describe()`, and list the class in KYMO_EXPORT_WORKLOADS. The constructor takes no arguments or a Context&, and
/// should do no expensive work. The host creates one instance per pass and calls prepare(), then before_step() and
/// step() repeatedly (or verify() once), then the destructor, all on one thread. An exception ends the run as `failed`
/// with its what() as the message; std::bad_alloc and LibTorch's out-of-memory error end it as `oom`.
class Workload {
 public:
  Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;
  /// May throw; the host logs the exception.
  virtual ~Workload() noexcept(false) = default;

  /// Reads parameters, allocates and initializes memory, and declares work. Not timed.
  virtual void prepare(Context&) {}
  /// Runs before each step, for example to draw a batch or flush a cache. Not timed.
  virtual void before_step(Context&) {}
  /// Runs one step. Timed.
  virtual void step(Context& ctx) = 0;
  /// Compares the results with a reference. Runs after prepare(), without preceding steps. Not timed.
  virtual Verification verify(Context&) { return Verification::unavailable("the workload has no reference"); }
};

}  // namespace kymo
