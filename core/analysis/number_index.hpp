// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "event/trace.hpp"

namespace kymo::analysis {

/// Maps numbers to their index in a list, for example correlation ids to launches. Dense numbers use a table; others
/// use a sorted list, in which a search begins at the previous result, since lookups are mostly in ascending order.
class NumberIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// Takes at most 2^32 - 2 numbers. For duplicates, the first index is returned.
  explicit NumberIndex(std::vector<std::uint64_t> numbers);

  /// Returns the index of a number, or kNone.
  std::uint32_t find(std::uint64_t number) {
    if (table_.empty()) return find_sorted(number);
    return number - base_ < table_.size() ? table_[number - base_] : kNone;
  }

 private:
  struct Entry {
    std::uint64_t number = 0;
    std::uint32_t position = 0;
  };

  std::uint32_t find_sorted(std::uint64_t number);

  std::uint64_t base_ = 0;
  std::vector<std::uint32_t> table_;  // index by number - base_
  std::vector<Entry> sorted_;         // ascending by number; empty if a table is used
  std::size_t last_ = 0;
};

/// Returns the correlation ids of the launches, to look up the launch of an activity.
std::vector<std::uint64_t> correlation_ids_of(const std::vector<event::Launch>& launches);

}  // namespace kymo::analysis
