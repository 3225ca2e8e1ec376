// SPDX-License-Identifier: Apache-2.0
#include "analysis/number_index.hpp"

#include <algorithm>
#include <boost/sort/flat_stable_sort/flat_stable_sort.hpp>

namespace kymo::analysis {
namespace {

constexpr std::uint64_t kSlotsPerNumber = 4;

}  // namespace

NumberIndex::NumberIndex(std::vector<std::uint64_t> numbers) {
  if (numbers.empty()) return;
  const auto [least, greatest] = std::ranges::minmax_element(numbers);
  base_ = *least;
  if (*greatest - base_ < kSlotsPerNumber * numbers.size()) {
    table_.assign(*greatest - base_ + 1, kNone);
    for (std::uint32_t i = 0; i < numbers.size(); ++i) {
      std::uint32_t& slot = table_[numbers[i] - base_];
      if (slot == kNone) slot = i;
    }
    return;
  }
  sorted_.reserve(numbers.size());
  for (std::uint32_t i = 0; i < numbers.size(); ++i) sorted_.push_back({numbers[i], i});
  // Stable, so that the first of equal numbers stays first.
  boost::sort::flat_stable_sort(sorted_.begin(), sorted_.end(),
                                [](const Entry& a, const Entry& b) { return a.number < b.number; });
}

std::uint32_t NumberIndex::find_sorted(std::uint64_t number) {
  if (sorted_.empty()) return kNone;
  // Exponential search from the previous result bounds the search to its neighborhood (Bentley and Yao).
  std::size_t low = last_, high = last_, step = 1;
  while (low > 0 && sorted_[low].number >= number) low -= std::min(low, step), step *= 2;
  for (step = 1; high < sorted_.size() && sorted_[high].number < number; step *= 2)
    high = std::min(sorted_.size(), high + step);
  const auto begin = sorted_.begin() + static_cast<std::ptrdiff_t>(low);
  const auto end = sorted_.begin() + static_cast<std::ptrdiff_t>(std::min(high + 1, sorted_.size()));
  const auto found = std::ranges::lower_bound(begin, end, number, {}, &Entry::number);
  if (found == sorted_.end()) return kNone;
  last_ = static_cast<std::size_t>(found - sorted_.begin());
  return found->number == number ? found->position : kNone;
}

std::vector<std::uint64_t> correlation_ids_of(const std::vector<event::Launch>& launches) {
  std::vector<std::uint64_t> ids(launches.size());
  std::ranges::transform(launches, ids.begin(), &event::Launch::correlation_id);
  return ids;
}

}  // namespace kymo::analysis
