// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collect/cuda/counter_plan.hpp"
#include "collect/cuda/profiler_api.hpp"

namespace kymo::collect {

/// CUPTI's range profiler: counts in ranges until it is stopped, and then has the counts of each. Nothing runs twice.
class RangeProfiler {
 public:
  enum class Ranges { kOfCaller, kOfKernels };

  RangeProfiler(const ProfilerApi& api, CUcontext context) : api_(api), context_(context) {}
  ~RangeProfiler() { disable(); }
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  /// Counts in at most `capacity` ranges, which need about 0.15 MB each: those between push() and pop(), which do not
  /// nest, or each kernel, so that kernels run one after another. Throws Unavailable.
  void start(CounterSet& set, std::size_t capacity, Ranges ranges);
  /// Both wait for the device.
  CUptiResult push(const char* name);
  CUptiResult pop();
  /// Ends counting, and returns the number of ranges with counts. Throws Unavailable.
  std::size_t stop();
  /// The name of a range after stop(). Throws Unavailable.
  std::string name(std::size_t range) const;
  /// Its counts, in the order of the metrics of the set. Throws Unavailable.
  const std::vector<double>& values(std::size_t range) const { return set_->evaluate(data_, range); }
  /// Frees the counters for other processes.
  void disable();

 private:
  void make_data(std::size_t capacity);
  void configure(std::size_t capacity, Ranges ranges);

  const ProfilerApi& api_;
  const CUcontext context_;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  CounterSet* set_ = nullptr;
  std::vector<std::uint8_t> data_;
};

}  // namespace kymo::collect
