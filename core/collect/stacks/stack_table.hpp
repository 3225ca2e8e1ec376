// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "collect/stacks/stack.hpp"
#include "event/memory.hpp"

namespace kymo::collect {

/// The distinct stacks of a pass: the same few are met at every step. Not safe for use from several threads.
class StackTable {
 public:
  /// `most_bytes` bounds what the stacks may take.
  explicit StackTable(std::int64_t most_bytes = 0) : bytes_left_(most_bytes) {}

  /// The stack's number, the same each time; -1 for an empty stack, and for a new one beyond the bound, which is
  /// counted.
  std::int32_t number(const Stack& stack);
  /// How often a stack could not be kept.
  std::int64_t lost() const { return lost_; }
  /// Appends all stacks, symbolised, in the order of their numbers. Returns the index of the first.
  std::int32_t append_to(event::Memory& memory) const;

 private:
  struct Extent {
    std::size_t begin = 0;
    std::uint32_t depth = 0;
  };
  bool is(const Extent& extent, const Stack& stack) const;

  std::int64_t bytes_left_;
  std::int64_t lost_ = 0;
  std::vector<void*> frames_;
  std::vector<Extent> stacks_;
  std::unordered_multimap<std::uint64_t, std::int32_t> by_hash_;
};

}  // namespace kymo::collect
