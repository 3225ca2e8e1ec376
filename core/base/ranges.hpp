// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <ranges>

/// Operations on ranges that the standard library has from C++23 on.
namespace kymo {

/// Returns true if an element of the range equals `value`.
template <std::ranges::input_range Range, typename Value>
constexpr bool contains(const Range& range, const Value& value) {
  return std::ranges::find(range, value) != std::ranges::end(range);
}

/// Copies the elements of `from` to the end of `to`, another container.
template <typename Container, std::ranges::input_range Range>
void append_range(Container& to, const Range& from) {
  to.insert(to.end(), std::ranges::begin(from), std::ranges::end(from));
}

}  // namespace kymo
