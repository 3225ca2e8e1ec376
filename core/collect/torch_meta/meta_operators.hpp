// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <array>

#include "measure/plan.hpp"

namespace kymo::collect {

/// While it exists, operators that this thread calls on the device meta allocate what they would on another device:
/// with its kernels, its mixed precision, and the workspaces of its matrix products.
class MetaMode {
 public:
  explicit MetaMode(measure::DeviceKind device);
  MetaMode(const MetaMode&) = delete;
  MetaMode& operator=(const MetaMode&) = delete;
  ~MetaMode();

  /// Whether this thread compiles code: its operators are traced as they are, and what they allocate does not count.
  static bool is_compiling();

  /// Drops weights that mixed precision has cast, as the end of its region does.
  static void end_step();
  /// Those of matrix products in forward and in backward; undefined until they are allocated.
  using Workspaces = std::array<at::Tensor, 2>;
  static const Workspaces& workspaces();
};

}  // namespace kymo::collect
