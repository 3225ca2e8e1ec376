// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "event/records.hpp"

namespace kymo::analysis {

/// Maximum number of outliers of a pass. Those with the largest excess over the median of their group are kept; the
/// others can be recomputed from the kernels.
inline constexpr std::size_t kMaxOutliers = 100;

/// Returns the calls of kernels in measured steps that took much longer than their siblings: the calls with the same
/// name, launch shape, phase and module, if there are at least 8. An outlier is at least 8 median absolute deviations
/// above the median (a deviation being at least 1 % of the median and 1 ns), at least 1.5 times the median, and at
/// least 5 µs above it (see Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993). Communication kernels are
/// excluded, because their duration depends on the message and the other ranks, which neither name nor shape
/// identifies; `is_communication` marks them by string id. Activities must be attributed and sorted by start. `samples`
/// provide the clock readings. The result is sorted by start.
std::vector<event::KernelOutlier> kernel_outliers(const event::Trace& trace, const std::vector<bool>& is_communication,
                                                  const std::vector<event::GpuSample>& samples, std::int64_t warmup);

}  // namespace kymo::analysis
