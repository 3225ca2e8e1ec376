// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace kymo::analysis {

/// Returns the indices that sort the keys in ascending order; the sort is stable. Least-significant-digit radix sort
/// with digits of 11 bits (Knuth, The Art of Computer Programming 3, 5.2.5), which takes linear time. A few ascending
/// runs are merged instead. At most 2^32 - 1 keys.
std::vector<std::uint32_t> order_of(const std::vector<std::uint64_t>& keys);

/// Permutes items in place into the order returned by order_of(), by following its cycles.
template <typename Item>
void arrange(std::vector<Item>& items, std::vector<std::uint32_t> order) {
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    if (order[i] == i) continue;
    Item first = std::move(items[i]);
    std::uint32_t hole = i;
    while (order[hole] != i) {
      const std::uint32_t from = order[hole];
      items[hole] = std::move(items[from]);
      order[hole] = hole;
      hole = from;
    }
    items[hole] = std::move(first);
    order[hole] = hole;
  }
}

}  // namespace kymo::analysis
