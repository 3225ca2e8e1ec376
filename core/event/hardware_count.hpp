// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "event/texts.hpp"

namespace kymo::event {

/// What the hardware counted in the ranges of one phase or scope of a step; phase -1: in the whole step.
struct HardwareCount {
  std::int64_t step = 0;
  std::int32_t phase = -1;  ///< index into Trace::phases
  TextId scope = kNoText;   ///< path
  TextId name = kNoText;    ///< of the metric
  std::int64_t calls = 0;   ///< number of ranges
  double value = 0;         ///< sum over them
};

/// What the hardware counted in one kernel of a step, summed over the steps that launched the same kernels in the same
/// order.
struct KernelCount {
  std::int64_t launch = 0;  ///< position of the kernel in the order of launch, from 0
  std::int32_t phase = -1;  ///< index into Trace::phases, in which it was launched
  TextId kernel = kNoText;
  TextId name = kNoText;   ///< of the metric
  std::int64_t steps = 0;  ///< in which it was counted
  double value = 0;        ///< sum over them
};

}  // namespace kymo::event
