// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "event/records.hpp"

namespace kymo::analysis {

/// At most so many outliers of a pass are kept: those that lasted longest beyond their siblings' median. The others can
/// be found again from the kernels themselves.
inline constexpr std::size_t kMostOutliers = 100;

/// Calls of kernels in measured steps that lasted far longer than their siblings: those of the same name, launch shape,
/// phase and module, if there are at least 8. Far is: at least 8 median absolute deviations above the median (a
/// deviation being at least 1 % of the median and 1 ns), at least 1.5 times the median, and at least 5 µs above it
/// (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993, for the measure). Kernels of communication are not
/// looked at: they last as long as their message and the other ranks demand, which neither name nor shape tells;
/// `is_communication` says so of each text, by number. Activities must be placed and in order of starting; readings of
/// the clock come from `samples`. In order of starting.
std::vector<event::KernelOutlier> kernel_outliers(const event::Trace& trace, const std::vector<bool>& is_communication,
                                                  const std::vector<event::GpuSample>& samples, std::int64_t warmup);

}  // namespace kymo::analysis
