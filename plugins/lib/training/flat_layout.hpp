// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace kymo::training {

/// Layout of consecutive tensors in one contiguous buffer that is divided into equal parts, so that one collective
/// serves all of them without copies.
class FlatLayout {
 public:
  /// Throws std::invalid_argument unless the tensors share device and type and each is dense: without gaps or overlap,
  /// strides in any order. Requires at least one tensor and one part.
  explicit FlatLayout(std::vector<at::Tensor> tensors, int shards = 1);

  /// Includes the gaps between the tensors and the padding of the parts.
  std::int64_t numel() const { return shard_numel_ * shards_; }
  const std::vector<at::Tensor>& tensors() const { return tensors_; }

  /// A new buffer of zeros.
  at::Tensor make_buffer() const;
  /// View of the tensor at `index`, with its sizes and strides.
  at::Tensor view(const at::Tensor& buffer, std::size_t index) const;
  /// Part `index` of the buffer.
  at::Tensor shard(const at::Tensor& buffer, int index) const {
    return buffer.narrow(0, index * shard_numel_, shard_numel_);
  }
  /// Copies every tensor's values into the buffer and makes the tensor a view of it. The tensor objects stay the same;
  /// their addresses change.
  void move_into(const at::Tensor& buffer) const;

  /// Zeroes the gradients, which are views of one buffer; the first call allocates it. A gradient that is not its view,
  /// because it was dropped or replaced, becomes the view again. The backward pass accumulates into a view instead of
  /// assigning a gradient that it allocated: this costs the zeroing, and two reads and one write of each gradient.
  void zero_gradients();
  /// The buffer of all gradients; its gaps and padding are zero. Undefined before zero_gradients().
  const at::Tensor& gradients() const { return gradients_; }
  /// The view for the gradient of the tensor at `index`.
  const at::Tensor& gradient(std::size_t index) const { return gradient_views_[index]; }

 private:
  std::vector<at::Tensor> tensors_;
  std::vector<std::int64_t> offsets_;  // in elements
  std::int64_t shard_numel_ = 0;
  int shards_ = 1;
  at::Tensor gradients_;
  std::vector<at::Tensor> gradient_views_;
};

/// Removes duplicates: a tied parameter is trained once.
std::vector<at::Tensor> unique_tensors(const std::vector<at::Tensor>& tensors);

/// Total bytes of all tensors.
std::int64_t bytes_of(const std::vector<at::Tensor>& tensors);

/// Splits tensors, in order, into lists of at most `limit_bytes` with the same type. A larger tensor has its own list.
/// (Li et al., "PyTorch Distributed", VLDB 2020, section 3.2.3; there a bucket is closed once it has reached the
/// limit.) With `taper`, a list also holds at most half of the remaining bytes, down to 1 MiB: large buckets have the
/// highest bandwidth, but nothing hides the transfer of the last one. Tensors of different types may alternate, each
/// type fills its own list; lists are sorted by their last tensors, the order in which they are complete.
std::vector<std::vector<at::Tensor>> split_by_bytes(const std::vector<at::Tensor>& tensors, double limit_bytes,
                                                    bool taper = false);
/// One list for each type.
std::vector<std::vector<at::Tensor>> split_by_type(const std::vector<at::Tensor>& tensors);

/// The values of a dense tensor in memory order, as a contiguous view.
at::Tensor as_1d(const at::Tensor& tensor);

}  // namespace kymo::training
