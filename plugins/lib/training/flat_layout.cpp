// SPDX-License-Identifier: Apache-2.0
#include "training/flat_layout.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <unordered_set>
#include <utility>

namespace kymo::training {
namespace {

/// Alignment of each tensor in a flat buffer, so that vectorized kernels and matrix multiplications are as fast as on
/// separate tensors.
constexpr std::int64_t kFlatAlignmentBytes = 128;

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

void require_dense(const at::Tensor& tensor) {
  if (tensor.layout() == at::kStrided && tensor.is_non_overlapping_and_dense()) return;
  std::ostringstream text;
  text << "a parameter with sizes " << tensor.sizes() << " and strides " << tensor.strides()
       << " is not dense; pass a contiguous one";
  throw std::invalid_argument(text.str());
}

void require_alike(const at::Tensor& tensor, const at::Tensor& first) {
  if (tensor.device() == first.device() && tensor.scalar_type() == first.scalar_type()) return;
  std::ostringstream text;
  text << "a flat buffer requires one type and device, but got " << tensor.scalar_type() << " on " << tensor.device()
       << " and " << first.scalar_type() << " on " << first.device();
  throw std::invalid_argument(text.str());
}

}  // namespace

FlatLayout::FlatLayout(std::vector<at::Tensor> tensors, int shards) : tensors_(std::move(tensors)), shards_(shards) {
  if (tensors_.empty() || shards_ < 1)
    throw std::invalid_argument("a flat buffer needs at least one tensor and at least one part");
  const auto element_bytes = static_cast<std::int64_t>(tensors_.front().element_size());
  const std::int64_t alignment = std::max<std::int64_t>(1, kFlatAlignmentBytes / element_bytes);
  std::int64_t end = 0;
  for (const at::Tensor& tensor : tensors_) {
    require_dense(tensor);
    require_alike(tensor, tensors_.front());
    offsets_.push_back(rounded_up(end, alignment));
    end = offsets_.back() + tensor.numel();
  }
  shard_numel_ = shards_ == 1 ? end : rounded_up(rounded_up(end, shards_) / shards_, alignment);
}

at::Tensor FlatLayout::make_buffer() const {
  return at::zeros({numel()}, tensors_.front().options().requires_grad(false));
}

at::Tensor FlatLayout::view(const at::Tensor& buffer, std::size_t index) const {
  const at::Tensor& tensor = tensors_.at(index);
  return at::as_strided(buffer, tensor.sizes(), tensor.strides(), buffer.storage_offset() + offsets_[index]);
}

void FlatLayout::move_into(const at::Tensor& buffer) const {
  const c10::NoGradGuard no_gradients;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const at::Tensor target = view(buffer, i);
    target.copy_(tensors_[i]);
    tensors_[i].set_data(target);
  }
}

void FlatLayout::zero_gradients() {
  if (gradients_.defined()) {
    gradients_.zero_();
  } else {
    gradients_ = make_buffer();
    for (std::size_t i = 0; i < tensors_.size(); ++i) gradient_views_.push_back(view(gradients_, i));
  }
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    at::Tensor& gradient = tensors_[i].mutable_grad();
    if (!gradient.is_same(gradient_views_[i])) gradient = gradient_views_[i];
  }
}

std::vector<at::Tensor> unique_tensors(const std::vector<at::Tensor>& tensors) {
  std::unordered_set<const void*> seen;
  std::vector<at::Tensor> once;
  for (const at::Tensor& tensor : tensors)
    if (seen.insert(tensor.unsafeGetTensorImpl()).second) once.push_back(tensor);
  return once;
}

std::int64_t bytes_of(const std::vector<at::Tensor>& tensors) {
  std::int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

std::vector<std::vector<at::Tensor>> split_by_bytes(const std::vector<at::Tensor>& tensors, double limit_bytes,
                                                    bool taper) {
  constexpr double kSmallestTaper = 1 << 20;
  struct List {
    std::vector<at::Tensor> tensors;
    double bytes = 0, limit = 0;
    std::size_t last = 0;  // position of the last tensor
  };
  std::vector<List> lists;
  std::map<at::ScalarType, std::size_t> open;  // the list that takes more tensors of a type
  auto left = static_cast<double>(bytes_of(tensors));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto more = static_cast<double>(tensors[i].nbytes());
    const auto [found, is_new] = open.try_emplace(tensors[i].scalar_type(), lists.size());
    if (is_new || lists[found->second].bytes + more > lists[found->second].limit) {
      found->second = lists.size();
      lists.emplace_back().limit = taper ? std::min(limit_bytes, std::max(left / 2, kSmallestTaper)) : limit_bytes;
    }
    List& list = lists[found->second];
    list.tensors.push_back(tensors[i]);
    list.bytes += more;
    list.last = i;
    left -= more;
  }
  std::ranges::sort(lists, {}, &List::last);
  std::vector<std::vector<at::Tensor>> split;
  for (List& list : lists) split.push_back(std::move(list.tensors));
  return split;
}

std::vector<std::vector<at::Tensor>> split_by_type(const std::vector<at::Tensor>& tensors) {
  return split_by_bytes(tensors, std::numeric_limits<double>::infinity());
}

at::Tensor as_1d(const at::Tensor& tensor) {
  require_dense(tensor);
  return at::as_strided(tensor.detach(), {tensor.numel()}, {1}, tensor.storage_offset());
}

}  // namespace kymo::training
