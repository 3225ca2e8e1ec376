// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace kymo::training {

/// One buffer in which the gradients of several parameters lie one after the other: each gradient is a view of it, so a
/// collective call on the buffer serves all of them and nothing is copied. The backward pass adds to a view, where it
/// would hand over a gradient that it made itself: that costs the zeroing, and two reads and one write of each
/// gradient.
class FlatGradients {
 public:
  /// Makes the buffer, zeroed; each view begins at a multiple of 128 bytes, as vectorised kernels want it. Throws
  /// std::invalid_argument unless there is a parameter and all have one type and device and are contiguous.
  explicit FlatGradients(std::vector<at::Tensor> parameters);

  /// With the gaps between the views, which are zero.
  const at::Tensor& buffer() const { return buffer_; }
  /// Zeroes all gradients, and makes the views the parameters' gradients where they are not.
  void zero();

 private:
  std::vector<at::Tensor> parameters_, views_;
  at::Tensor buffer_;
};

}  // namespace kymo::training
