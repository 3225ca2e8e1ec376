// SPDX-License-Identifier: Apache-2.0
#include "analysis/order.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace kymo::analysis {
namespace {

constexpr int kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

struct Entry {
  std::uint64_t key = 0;
  std::uint32_t position = 0;
};

/// A few ascending runs, such as the logs of several threads, are merged, which is faster than sorting.
constexpr std::size_t kMaxRuns = 8;

/// Returns the begins of the ascending runs of the keys and the end of the last one, or nothing if there are too many
/// runs.
std::vector<std::size_t> few_runs(const std::vector<std::uint64_t>& keys) {
  std::vector<std::size_t> bounds = {0};
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (keys[i] >= keys[i - 1]) continue;
    if (bounds.size() == kMaxRuns) return {};
    bounds.push_back(i);
  }
  bounds.push_back(keys.size());
  return bounds;
}

std::vector<std::uint32_t> merge_runs(const std::vector<std::uint64_t>& keys, const std::vector<std::size_t>& bounds) {
  std::vector<std::uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto at = [&](std::size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(bounds[i]); };
  for (std::size_t i = 1; i + 1 < bounds.size(); ++i) {
    std::inplace_merge(order.begin(), at(i), at(i + 1),
                       [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
  }
  return order;
}

}  // namespace

std::vector<std::uint32_t> order_of(const std::vector<std::uint64_t>& keys) {
  if (const auto bounds = few_runs(keys); !bounds.empty()) return merge_runs(keys, bounds);
  std::vector<std::uint32_t> order(keys.size());
  const auto [least, greatest] = std::minmax_element(keys.begin(), keys.end());
  const std::uint64_t base = *least;
  const std::uint64_t span = *greatest - base;
  std::vector<Entry> entries(keys.size());
  for (std::uint32_t i = 0; i < keys.size(); ++i) entries[i] = {keys[i] - base, i};
  std::vector<Entry> sorted(keys.size());
  for (int shift = 0; shift < 64 && span >> shift != 0; shift += kDigitBits) {
    std::array<std::size_t, kDigits> starts{};
    const auto digit = [shift](const Entry& entry) { return (entry.key >> shift) & (kDigits - 1); };
    for (const Entry& entry : entries) ++starts[digit(entry)];
    std::size_t total = 0;
    for (std::size_t& start : starts) total += std::exchange(start, total);
    for (const Entry& entry : entries) sorted[starts[digit(entry)]++] = entry;
    entries.swap(sorted);
  }
  std::transform(entries.begin(), entries.end(), order.begin(), [](const Entry& entry) { return entry.position; });
  return order;
}

}  // namespace kymo::analysis
