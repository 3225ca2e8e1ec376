// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace kymo::training {

/// Alignment of each tensor in a flat buffer, so that vectorized kernels and matrix multiplications are as fast as on
/// separate tensors.
inline constexpr std::int64_t kFlatAlignmentBytes = 128;

/// Layout of consecutive tensors in one contiguous buffer, whose length is a multiple of a number of equal parts.
class FlatLayout {
 public:
  /// Throws std::invalid_argument unless the tensors share device and type and each is dense: without gaps or overlap,
  /// strides in any order. Requires at least one tensor and one part.
  FlatLayout(std::vector<at::Tensor> tensors, int parts);

  std::int64_t numel() const { return part_numel_ * parts_; }
  std::int64_t part_numel() const { return part_numel_; }
  std::int64_t size_bytes() const { return numel() * element_bytes_; }
  const std::vector<at::Tensor>& tensors() const { return tensors_; }

  /// A new buffer of zeros.
  at::Tensor make_buffer() const;
  /// View of the tensor at `index`, with its sizes and strides.
  at::Tensor view(const at::Tensor& buffer, std::size_t index) const;
  /// Part `index` of the buffer.
  at::Tensor part(const at::Tensor& buffer, int index) const {
    return buffer.narrow(0, index * part_numel_, part_numel_);
  }
  /// Copies every tensor's values into the buffer and makes the tensor a view of it. The tensor objects stay the same;
  /// their addresses change.
  void move_into(const at::Tensor& buffer) const;

 private:
  std::vector<at::Tensor> tensors_;
  std::vector<std::int64_t> offsets_;  // in elements
  std::int64_t element_bytes_ = 0;
  std::int64_t part_numel_ = 0;
  int parts_ = 1;
};

/// Removes duplicates: a tied parameter is trained once.
std::vector<at::Tensor> each_once(const std::vector<at::Tensor>& tensors);

/// Total bytes of all tensors.
std::int64_t bytes_of(const std::vector<at::Tensor>& tensors);

/// Splits tensors, in order, into lists of at most `limit_bytes` with the same type. A larger tensor has its own list.
std::vector<std::vector<at::Tensor>> split_by_bytes(const std::vector<at::Tensor>& tensors, double limit_bytes);

/// The values of a dense tensor in memory order, as a contiguous view.
at::Tensor as_line(const at::Tensor& tensor);

}  // namespace kymo::training
