// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/buffer_pool.hpp"

#include <algorithm>
#include <utility>

namespace kymo::collect {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;
constexpr std::size_t kMinBufferBytes = std::size_t{64} << 10;
constexpr std::size_t kMinBuffers = 8;  // CUPTI fills one buffer per thread and one per device at a time
constexpr std::size_t kMaxSpareBytes = std::size_t{64} << 10;
constexpr std::size_t kSpareShare = 8;
constexpr std::size_t kSpareBuffers = 4;

}  // namespace

std::size_t BufferPool::buffer_bytes_for(std::int64_t bound_bytes) {
  const std::size_t bound = static_cast<std::size_t>(std::max<std::int64_t>(bound_bytes, 0));
  return std::clamp(bound / kMinBuffers, kMinBufferBytes, kBufferBytes);
}

BufferPool::BufferPool(EventArena& arena, std::size_t buffer_bytes, CountRecords count)
    : arena_(arena),
      buffer_bytes_(buffer_bytes),
      spare_bytes_(std::min(buffer_bytes / kSpareShare, kMaxSpareBytes)),
      count_(count) {
  for (std::size_t i = 0; i < kSpareBuffers; ++i) {
    if (std::byte* memory = arena_.take_low(spare_bytes_)) spares_.push_back(reinterpret_cast<std::uint8_t*>(memory));
  }
  spare_in_use_.resize(spares_.size());
  const std::size_t most = arena_.size_bytes() / buffer_bytes_;
  empty_.reserve(most);
  filled_.reserve(most);
}

BufferPool::Buffer BufferPool::request() {
  const std::lock_guard lock(mutex_);
  if (!empty_.empty()) {
    std::uint8_t* memory = empty_.back();
    empty_.pop_back();
    return {memory, buffer_bytes_};
  }
  if (std::byte* memory = arena_.take_low(buffer_bytes_))
    return {reinterpret_cast<std::uint8_t*>(memory), buffer_bytes_};
  const auto free = std::ranges::find(spare_in_use_, false);
  if (free == spare_in_use_.end()) return {};
  *free = true;
  return {spares_[static_cast<std::size_t>(free - spare_in_use_.begin())], spare_bytes_};
}

std::size_t BufferPool::spare_at(const std::uint8_t* memory) const {
  return static_cast<std::size_t>(std::ranges::find(spares_, memory) - spares_.begin());
}

void BufferPool::complete(std::uint8_t* memory, std::size_t valid_bytes, std::int64_t dropped) {
  const std::lock_guard lock(mutex_);
  dropped_ += dropped;
  if (!memory) return;
  if (const std::size_t spare = spare_at(memory); spare < spares_.size()) {
    dropped_ += count_(memory, valid_bytes);
    spare_in_use_[spare] = false;
  } else if (valid_bytes == 0) {
    empty_.push_back(memory);
  } else {
    filled_.push_back({memory, std::min(valid_bytes, buffer_bytes_)});
  }
}

std::vector<BufferPool::Buffer> BufferPool::take_filled() {
  const std::lock_guard lock(mutex_);
  return std::exchange(filled_, {});
}

std::int64_t BufferPool::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace kymo::collect
