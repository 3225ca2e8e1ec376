// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace kymo::training {

/// One buffer that contains the gradients of several parameters consecutively. Each gradient is a view of it, so that
/// one collective on the buffer serves all of them without copies. The backward pass accumulates into a view instead of
/// assigning a gradient that it allocated: this costs the zeroing, and two reads and one write of each gradient.
class FlatGradients {
 public:
  /// Allocates the zeroed buffer; each view starts at a multiple of 128 bytes, as vectorized kernels require. Throws
  /// std::invalid_argument unless there is at least one parameter and all are contiguous and have the same type and
  /// device.
  explicit FlatGradients(std::vector<at::Tensor> parameters);

  /// Includes the gaps between the views, which are zero.
  const at::Tensor& buffer() const { return buffer_; }
  /// Zeroes all gradients, and assigns the views to parameters whose gradients are not views.
  void zero();

 private:
  std::vector<at::Tensor> parameters_, views_;
  at::Tensor buffer_;
};

}  // namespace kymo::training
