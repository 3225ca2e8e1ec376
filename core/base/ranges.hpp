// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
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

/// Copies the elements of `from` that were not copied before to the end of `to`; `count` is their number.
template <typename Container, std::ranges::random_access_range Range>
void append_new(Container& to, const Range& from, std::size_t& count) {
  to.insert(to.end(), std::ranges::begin(from) + static_cast<std::ptrdiff_t>(count), std::ranges::end(from));
  count = std::ranges::size(from);
}

}  // namespace kymo
