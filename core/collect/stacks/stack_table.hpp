// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "collect/stacks/stack.hpp"
#include "event/memory.hpp"

namespace kymo::collect {

/// The distinct call stacks of a pass; the same few repeat in every step. Not thread-safe.
class StackTable {
 public:
  /// `max_bytes` limits the memory of the stacks.
  explicit StackTable(std::int64_t max_bytes = 0) : bytes_left_(max_bytes) {}

  /// Returns the id of a stack; equal stacks get the same id. Returns -1 for an empty stack, and for a new stack beyond
  /// the memory limit, which is counted as dropped.
  std::int32_t number(const Stack& stack);
  /// Number of dropped stacks.
  std::int64_t dropped() const { return dropped_; }
  /// Appends all stacks, symbolized and ordered by id. Returns the index of the first one.
  std::int32_t append_to(event::Memory& memory) const;

 private:
  struct Extent {
    std::size_t begin = 0;
    std::uint32_t depth = 0;
  };
  bool is(const Extent& extent, const Stack& stack) const;

  std::int64_t bytes_left_;
  std::int64_t dropped_ = 0;
  std::vector<void*> frames_;
  std::vector<Extent> stacks_;
  std::unordered_multimap<std::uint64_t, std::int32_t> by_hash_;
};

}  // namespace kymo::collect
