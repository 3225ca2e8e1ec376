// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collect/cuda/profiler_api.hpp"

namespace kymo::collect {

// Metrics that kymo wants.
inline constexpr const char* kRead = "dram__bytes_read.sum";
inline constexpr const char* kWritten = "dram__bytes_write.sum";
inline constexpr const char* kBf16 = "sm__ops_path_tensor_src_bf16_dst_fp32.sum";
inline constexpr const char* kFp16 = "sm__ops_path_tensor_src_fp16_dst_fp32.sum";

/// A GPU whose counters a test sets, behind the functions of CUPTI. Its images are of its own format, and like CUPTI it
/// rejects calls in the wrong order, counts only within ranges and on one of their levels, and drops ranges that do not
/// fit.
struct FakeProfiler {
  std::string chip = "FAKE";
  /// Known metrics, and which of them the hardware counts at the same time: those with the same number; 0 fits all.
  std::map<std::string, int> metrics;
  std::map<std::string, CUptiResult> failing;  ///< by name of the member of ProfilerApi
  std::size_t lost_ranges = 0;                 ///< not reported, from the end of a portion

  /// Work of the GPU: adds to a metric in all open ranges.
  void count(const std::string& metric, double value);
  /// A kernel, which is a range of its own if the profiler counts by kernel.
  void run_kernel(std::map<std::string, double> values);

  std::vector<std::string> calls;  ///< of start and stop, with the metrics
  std::vector<std::string> names;  ///< of all ranges, in the order of their begin
  std::size_t capacity = 0, levels = 0, counted_level = 0;
  bool is_initialized = false, is_enabled = false, is_running = false, is_by_kernel = false;

  /// Resets the instance that the functions use.
  static FakeProfiler& make();
  static ProfilerApi api();

  struct Range {
    std::string name;
    std::map<std::string, double> values;
  };
  std::vector<Range> open, closed;
  std::vector<std::string> configured;
};

}  // namespace kymo::collect
