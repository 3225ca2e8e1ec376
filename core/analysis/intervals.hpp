// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace kymo::analysis {

/// Time from start to end, the end left out. An interval whose end is not after its start is empty.
struct Interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  bool operator==(const Interval&) const = default;
};

/// Intervals in order, none empty, none touching the next: what the functions below take and return.
using IntervalSet = std::vector<Interval>;

/// Adds an interval that starts no earlier than any in the set before it; empty ones change nothing. Constant time.
inline void append(IntervalSet& set, Interval interval) {
  if (interval.end_ns <= interval.start_ns) return;
  if (set.empty() || set.back().end_ns < interval.start_ns) {
    set.push_back(interval);
  } else if (set.back().end_ns < interval.end_ns) {
    set.back().end_ns = interval.end_ns;
  }
}

/// The union of intervals in any order.
IntervalSet merged(std::vector<Interval> intervals);

/// Time in either set; in both; in the first alone. Linear sweeps over both.
IntervalSet unite(const IntervalSet& a, const IntervalSet& b);
IntervalSet intersect(const IntervalSet& a, const IntervalSet& b);
IntervalSet subtract(const IntervalSet& a, const IntervalSet& b);

/// The part of a span outside of a set. Logarithmic, and linear in what lies within.
IntervalSet complement(const IntervalSet& set, Interval span);

/// What complement() holds, without making it.
struct Gaps {
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t longest_ns = 0;
};
Gaps gaps_within(const IntervalSet& set, Interval span);

std::int64_t length_ns(const IntervalSet& set);
/// Of the part of the set within the span.
std::int64_t length_within_ns(const IntervalSet& set, Interval span);

}  // namespace kymo::analysis
