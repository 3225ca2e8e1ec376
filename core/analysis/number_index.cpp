// SPDX-License-Identifier: Apache-2.0
#include "analysis/number_index.hpp"

#include <algorithm>

#include "analysis/order.hpp"

namespace kymo::analysis {
namespace {

constexpr std::uint64_t kSlotsPerNumber = 4;

}  // namespace

NumberIndex::NumberIndex(std::vector<std::uint64_t> numbers) {
  if (numbers.empty()) return;
  const auto [least, greatest] = std::minmax_element(numbers.begin(), numbers.end());
  base_ = *least;
  if (*greatest - base_ < kSlotsPerNumber * numbers.size()) {
    table_.assign(*greatest - base_ + 1, kNone);
    for (std::uint32_t i = 0; i < numbers.size(); ++i) {
      std::uint32_t& slot = table_[numbers[i] - base_];
      if (slot == kNone) slot = i;
    }
    return;
  }
  positions_ = order_of(numbers);
  arrange(numbers, positions_);
  numbers_ = std::move(numbers);
}

std::uint32_t NumberIndex::find_sorted(std::uint64_t number) {
  if (numbers_.empty()) return kNone;
  // Exponential search from the previous result bounds the search to its neighborhood (Bentley and Yao).
  std::size_t low = last_, high = last_, step = 1;
  while (low > 0 && numbers_[low] >= number) low -= std::min(low, step), step *= 2;
  for (step = 1; high < numbers_.size() && numbers_[high] < number; step *= 2)
    high = std::min(numbers_.size(), high + step);
  const auto begin = numbers_.begin() + static_cast<std::ptrdiff_t>(low);
  const auto end = numbers_.begin() + static_cast<std::ptrdiff_t>(std::min(high + 1, numbers_.size()));
  const auto found = std::lower_bound(begin, end, number);
  if (found == numbers_.end()) return kNone;
  last_ = static_cast<std::size_t>(found - numbers_.begin());
  return *found == number ? positions_[last_] : kNone;
}

std::vector<std::uint64_t> correlation_ids_of(const std::vector<event::Launch>& launches) {
  std::vector<std::uint64_t> ids(launches.size());
  std::transform(launches.begin(), launches.end(), ids.begin(),
                 [](const event::Launch& launch) { return launch.correlation_id; });
  return ids;
}

}  // namespace kymo::analysis
