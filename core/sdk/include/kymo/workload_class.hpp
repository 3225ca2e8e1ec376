// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "context.hpp"
#include "verification.hpp"

namespace kymo {

/// Something with a repeatable step. Derive from it, add `static kymo::Descriptor describe()`, and name the class in
/// KYMO_EXPORT_WORKLOADS. Its constructor takes nothing or a Context&, and does nothing heavy. The host makes one
/// instance per pass and calls prepare, then before_step and step in turn (or verify), then the destructor, all on one
/// thread. Any exception ends the run as `failed` with its what(); std::bad_alloc and LibTorch's out-of-memory error
/// end it as `oom`.
class Workload {
 public:
  Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;
  /// May throw: the host logs it.
  virtual ~Workload() noexcept(false) = default;

  /// Reads parameters, allocates, initialises, declares work. Never timed.
  virtual void prepare(Context&) {}
  /// Draws a batch or flushes a cache before each step. Never timed.
  virtual void before_step(Context&) {}
  /// One repetition. Timed.
  virtual void step(Context& ctx) = 0;
  /// Compares with a reference, after prepare() and without steps before it. Never timed.
  virtual Verification verify(Context&) { return Verification::unavailable("the workload has no reference"); }
};

}  // namespace kymo
