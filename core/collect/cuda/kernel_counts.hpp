// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "event/records.hpp"

namespace kymo::collect {

struct LaunchedKernel {
  std::string name;
  std::int32_t phase = -1;
  bool operator==(const LaunchedKernel&) const = default;
};

/// Adds up the counts of kernels over steps. Only steps that launch the same kernels in the same order are comparable:
/// those of the order that most steps have are kept, and the others are dropped records.
class KernelCounts {
 public:
  /// `values` has a row for each kernel, with a value for each metric.
  void add(std::int64_t step, std::vector<LaunchedKernel> kernels, const std::vector<std::string>& metrics,
           const std::vector<std::vector<double>>& values);
  void take(event::PassRecord& record, const std::string& source);

 private:
  struct Sums {
    std::int64_t steps = 0;
    std::vector<double> values;  // of each kernel
  };
  /// Steps that launched the same kernels.
  struct Order {
    std::int64_t first_step = 0;
    std::vector<LaunchedKernel> kernels;
    std::int64_t steps = 0;
    std::map<std::string, Sums> metrics;
  };

  std::vector<Order> orders_;
};

}  // namespace kymo::collect
