// SPDX-License-Identifier: Apache-2.0
#include "collect/stacks/stack_table.hpp"

#include <algorithm>

namespace kymo::collect {
namespace {

// Overhead of a stack in addition to its frames: its extent and a hash table node.
constexpr std::int64_t kStackOverheadBytes = 64;

/// FNV-1a over whole addresses with MurmurHash3's finalizer, since addresses differ only in their low bits.
std::uint64_t hash_of(const Stack& stack) {
  std::uint64_t hash = 14695981039346656037ull;
  for (std::uint32_t i = 0; i < stack.depth; ++i)
    hash = (hash ^ reinterpret_cast<std::uintptr_t>(stack.frames[i])) * 1099511628211ull;
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdull;
  return hash ^ (hash >> 33);
}

}  // namespace

bool StackTable::is(const Extent& extent, const Stack& stack) const {
  return extent.depth == stack.depth && std::equal(stack.frames.begin(), stack.frames.begin() + stack.depth,
                                                   frames_.begin() + static_cast<std::ptrdiff_t>(extent.begin));
}

std::int32_t StackTable::number(const Stack& stack) {
  if (stack.depth == 0) return -1;
  const std::uint64_t hash = hash_of(stack);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto each = begin; each != end; ++each)
    if (is(stacks_[static_cast<std::size_t>(each->second)], stack)) return each->second;
  const std::int64_t bytes = kStackOverheadBytes + static_cast<std::int64_t>(stack.depth * sizeof(void*));
  if (bytes > bytes_left_) {
    ++dropped_;
    return -1;
  }
  bytes_left_ -= bytes;
  const auto number = static_cast<std::int32_t>(stacks_.size());
  stacks_.push_back({frames_.size(), stack.depth});
  frames_.insert(frames_.end(), stack.frames.begin(), stack.frames.begin() + stack.depth);
  by_hash_.emplace(hash, number);
  return number;
}

std::int32_t StackTable::append_to(event::Memory& memory) const {
  const auto first = static_cast<std::int32_t>(memory.stacks.size());
  std::unordered_map<void*, std::uint32_t> numbers;
  for (const Extent& extent : stacks_) {
    auto& stack = memory.stacks.emplace_back();
    stack.reserve(extent.depth);
    for (std::size_t i = extent.begin; i < extent.begin + extent.depth; ++i) {
      const auto [entry, is_new] = numbers.emplace(frames_[i], static_cast<std::uint32_t>(memory.frames.size()));
      if (is_new) memory.frames.push_back(locate(frames_[i]));
      stack.push_back(entry->second);
    }
  }
  return first;
}

}  // namespace kymo::collect
