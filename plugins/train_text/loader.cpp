// SPDX-License-Identifier: Apache-2.0
#include "loader.hpp"

#include <ATen/ops/empty.h>

#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace kymo::text {

std::int64_t window_count(std::string_view text, std::int64_t context, const char* part) {
  const auto bytes = static_cast<std::int64_t>(text.size());
  if (bytes > context) return (bytes - 1) / context;
  throw std::invalid_argument(std::string("the ") + part + " part of the text has " + std::to_string(bytes) +
                              " bytes; context=" + std::to_string(context) + " needs at least " +
                              std::to_string(context + 1));
}

void gather(std::string_view text, const std::vector<std::int64_t>& windows, std::int64_t context, std::int64_t* to) {
  const std::int64_t elements = static_cast<std::int64_t>(windows.size()) * context;
  for (const std::int64_t window : windows) {
    const auto* from = reinterpret_cast<const unsigned char*>(text.data()) + window * context;
    for (std::int64_t i = 0; i < context; ++i) to[i] = from[i];
    for (std::int64_t i = 0; i < context; ++i) to[elements + i] = from[i + 1];
    to += context;
  }
}

WindowOrder::WindowOrder(std::int64_t windows, std::uint64_t seed)
    : order_(static_cast<std::size_t>(windows)), position_(order_.size()), random_(seed) {
  std::iota(order_.begin(), order_.end(), 0);
}

std::int64_t WindowOrder::next() {
  if (position_ == order_.size()) {
    // Fisher–Yates; std::shuffle differs between standard libraries.
    for (std::size_t left = order_.size(); left > 1; --left) std::swap(order_[left - 1], order_[random_() % left]);
    position_ = 0;
  }
  return order_[position_++];
}

Loader::Loader(std::string_view text, BatchShape shape, std::uint64_t seed, bool prefetch, const at::Device& device)
    : text_(text), shape_(shape), order_(window_count(text, shape.context, "training"), seed) {
  const auto options = at::TensorOptions().dtype(at::kLong).pinned_memory(prefetch && device.is_cuda());
  for (at::Tensor& buffer : buffers_) buffer = at::empty({2, shape.batch, shape.context}, options);
  if (!prefetch) return;
  requested_ = true;
  thread_ = std::thread([this] { work(); });
}

Loader::~Loader() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Loader::next(const at::Tensor& batch) {
  if (!thread_.joinable()) {
    gather_into(buffers_[0]);
    batch.copy_(buffers_[0]);
    return;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !requested_; });
  batch.copy_(buffers_[filled_], /*non_blocking=*/true);
  filled_ = 1 - filled_;
  requested_ = true;
  lock.unlock();
  changed_.notify_all();
}

void Loader::gather_into(const at::Tensor& buffer) {
  std::vector<std::int64_t> windows(static_cast<std::size_t>(shape_.batch));
  for (std::int64_t& window : windows) window = order_.next();
  gather(text_, windows, shape_.context, buffer.mutable_data_ptr<std::int64_t>());
}

void Loader::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return requested_ || closing_; });
    if (closing_) return;
    lock.unlock();
    gather_into(buffers_[filled_]);  // next() waits meanwhile
    lock.lock();
    requested_ = false;
    changed_.notify_all();
  }
}

}  // namespace kymo::text
