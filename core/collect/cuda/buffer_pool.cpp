// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/buffer_pool.hpp"

#include <algorithm>
#include <utility>

namespace kymo::collect {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;
constexpr std::size_t kLeastBufferBytes = std::size_t{64} << 10;
constexpr std::size_t kFewestBuffers = 8;  // CUPTI fills one buffer per thread and one per device at a time
constexpr std::size_t kMostScrapBytes = std::size_t{64} << 10;
constexpr std::size_t kScrapShare = 8;
constexpr std::size_t kScraps = 4;

}  // namespace

std::size_t BufferPool::buffer_bytes_for(std::int64_t bound_bytes) {
  const std::size_t bound = static_cast<std::size_t>(std::max<std::int64_t>(bound_bytes, 0));
  return std::clamp(bound / kFewestBuffers, kLeastBufferBytes, kBufferBytes);
}

BufferPool::BufferPool(EventArena& arena, std::size_t buffer_bytes, CountRecords count)
    : arena_(arena),
      buffer_bytes_(buffer_bytes),
      scrap_bytes_(std::min(buffer_bytes / kScrapShare, kMostScrapBytes)),
      count_(count) {
  for (std::size_t i = 0; i < kScraps; ++i) {
    if (std::byte* memory = arena_.take_low(scrap_bytes_)) scraps_.push_back(reinterpret_cast<std::uint8_t*>(memory));
  }
  scrap_in_use_.resize(scraps_.size());
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
  const auto free = std::find(scrap_in_use_.begin(), scrap_in_use_.end(), false);
  if (free == scrap_in_use_.end()) return {};
  *free = true;
  return {scraps_[static_cast<std::size_t>(free - scrap_in_use_.begin())], scrap_bytes_};
}

std::size_t BufferPool::scrap_at(const std::uint8_t* memory) const {
  return static_cast<std::size_t>(std::find(scraps_.begin(), scraps_.end(), memory) - scraps_.begin());
}

void BufferPool::complete(std::uint8_t* memory, std::size_t valid_bytes, std::int64_t dropped) {
  const std::lock_guard lock(mutex_);
  lost_ += dropped;
  if (!memory) return;
  if (const std::size_t scrap = scrap_at(memory); scrap < scraps_.size()) {
    lost_ += count_(memory, valid_bytes);
    scrap_in_use_[scrap] = false;
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

std::int64_t BufferPool::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

}  // namespace kymo::collect
