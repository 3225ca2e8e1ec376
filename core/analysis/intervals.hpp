// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace kymo::analysis {

/// Half-open time interval [start, end). An interval whose end is not after its start is empty.
struct Interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  bool operator==(const Interval&) const = default;
};

/// Sorted intervals; none is empty and none touches the next. Argument and return type of the functions below.
using IntervalSet = std::vector<Interval>;

/// Appends an interval that does not start before any interval of the set. Empty intervals are ignored. Constant time.
inline void append(IntervalSet& set, Interval interval) {
  if (interval.end_ns <= interval.start_ns) return;
  if (set.empty() || set.back().end_ns < interval.start_ns) {
    set.push_back(interval);
  } else if (set.back().end_ns < interval.end_ns) {
    set.back().end_ns = interval.end_ns;
  }
}

/// Returns the union of unsorted intervals.
IntervalSet merged(std::vector<Interval> intervals);

/// Return the union, the intersection and the difference of two sets, in linear time.
IntervalSet unite(const IntervalSet& a, const IntervalSet& b);
IntervalSet intersect(const IntervalSet& a, const IntervalSet& b);
IntervalSet subtract(const IntervalSet& a, const IntervalSet& b);

/// Returns the part of a span that is not covered by a set. Logarithmic, plus linear in the number of intervals in the
/// span.
IntervalSet complement(const IntervalSet& set, Interval span);

/// Summary of complement(), without building the set.
struct Gaps {
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t longest_ns = 0;
};
Gaps gaps_within(const IntervalSet& set, Interval span);

std::int64_t length_ns(const IntervalSet& set);
/// Returns the total length of the intervals within the span.
std::int64_t length_within_ns(const IntervalSet& set, Interval span);

}  // namespace kymo::analysis
