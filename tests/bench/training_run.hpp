// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "event/records.hpp"

namespace kymo::bench {

/// A synthetic training run, as recorded by a GPU and its host: steps of 2,000 kernels on one stream, a forward pass
/// through nested scopes, a backward pass on autograd's thread, an optimizer. Names, shapes and scopes repeat from step
/// to step; times vary, and one kernel in 500 is an outlier.
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

  /// Sorted by start time.
  const std::vector<Kernel>& kernels() const { return kernels_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<event::LaunchShape>& shapes() const { return shapes_; }
  std::int64_t steps() const;

  /// The host's records: phases, scopes, one launch per kernel, and the step times.
  event::PassRecord host_side() const;

 private:
  std::vector<Kernel> kernels_;
  std::vector<std::string> names_;
  std::vector<event::LaunchShape> shapes_;
};

/// The GPU's records of a run before they are parsed.
class KernelSource {
 public:
  virtual ~KernelSource() = default;
  /// A short name of what add_to() does.
  virtual const char* what() const = 0;
  /// Creates the events of the kernels. Call this once.
  virtual void add_to(event::Trace& trace) = 0;
};

/// Raw records in CUPTI's buffers if the build has CUPTI; otherwise ready-made events.
std::unique_ptr<KernelSource> make_kernel_source(const TrainingRun& run);

}  // namespace kymo::bench
