// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "event/records.hpp"

namespace kymo::bench {

/// A made-up training run, as a GPU and the host beside it would see it: steps of 2,000 kernels on one stream, a
/// forward pass through nested scopes, a backward pass on autograd's thread, an optimizer. Names, shapes and scopes
/// repeat from step to step; times vary, and one kernel in 500 takes far too long.
class TrainingRun {
 public:
  static constexpr std::int64_t kKernelsPerStep = 2'000;

  struct Kernel {
    std::int64_t start_ns = 0;  ///< on the host clock, relative to the start of the run
    std::int64_t end_ns = 0;
    std::uint32_t name = 0;   ///< index into names()
    std::uint32_t shape = 0;  ///< index into shapes()
    std::uint32_t correlation_id = 0;
  };

  explicit TrainingRun(std::int64_t kernels);

  /// In order of starting.
  const std::vector<Kernel>& kernels() const { return kernels_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<event::LaunchShape>& shapes() const { return shapes_; }
  std::int64_t steps() const;

  /// What the host noted: phases, scopes, a launch for each kernel, and the times of the steps.
  event::PassRecord host_side() const;

 private:
  std::vector<Kernel> kernels_;
  std::vector<std::string> names_;
  std::vector<event::LaunchShape> shapes_;
};

/// The GPU's side of a run before it is read.
class KernelSource {
 public:
  virtual ~KernelSource() = default;
  /// What add_to() does, in a word or two.
  virtual const char* what() const = 0;
  /// Makes events of the kernels, once.
  virtual void add_to(event::Trace& trace) = 0;
};

/// Raw records in CUPTI's buffers, where the build has CUPTI; else events that are ready.
std::unique_ptr<KernelSource> make_kernel_source(const TrainingRun& run);

}  // namespace kymo::bench
