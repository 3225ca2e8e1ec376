// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "event/trace.hpp"

namespace kymo::analysis {

/// Finds which of many things bears a number, as the launch with a correlation id. Numbers that lie densely get a
/// table; others are sorted, and a search begins where the last one ended, since numbers are mostly asked for in order.
class NumberIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// At most 2^32 - 2 numbers; where one occurs twice its first place counts.
  explicit NumberIndex(std::vector<std::uint64_t> numbers);

  /// The place of the number among those given, or kNone.
  std::uint32_t find(std::uint64_t number) {
    if (table_.empty()) return find_sorted(number);
    return number - base_ < table_.size() ? table_[number - base_] : kNone;
  }

 private:
  std::uint32_t find_sorted(std::uint64_t number);

  std::uint64_t base_ = 0;
  std::vector<std::uint32_t> table_;    // place by number - base_
  std::vector<std::uint64_t> numbers_;  // ascending; empty if there is a table
  std::vector<std::uint32_t> places_;
  std::size_t last_ = 0;
};

/// For finding the launch of an activity.
std::vector<std::uint64_t> correlation_ids_of(const std::vector<event::Launch>& launches);

}  // namespace kymo::analysis
