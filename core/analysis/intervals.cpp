// SPDX-License-Identifier: Apache-2.0
#include "analysis/intervals.hpp"

#include <algorithm>

namespace kymo::analysis {
namespace {

/// Returns the first interval that ends after a time.
IntervalSet::const_iterator first_after(const IntervalSet& set, std::int64_t time_ns) {
  return std::ranges::upper_bound(set, time_ns, {}, &Interval::end_ns);
}

/// Calls `gap(start, end)` for each part of a span that is not covered by a set; some may be empty.
template <typename Visit>
void visit_gaps(const IntervalSet& set, Interval span, const Visit& gap) {
  std::int64_t from = span.start_ns;
  for (auto i = first_after(set, span.start_ns); i != set.end() && i->start_ns < span.end_ns; ++i) {
    gap(from, i->start_ns);
    from = i->end_ns;
  }
  gap(from, span.end_ns);
}

Interval common(const Interval& a, const Interval& b) {
  return {std::max(a.start_ns, b.start_ns), std::min(a.end_ns, b.end_ns)};
}

}  // namespace

IntervalSet merged(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::start_ns);
  IntervalSet set;
  for (const Interval& interval : intervals) append(set, interval);
  return set;
}

IntervalSet unite(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet set;
  set.reserve(std::max(a.size(), b.size()));
  for (auto i = a.begin(), j = b.begin(); i != a.end() || j != b.end();) {
    const bool first = j == b.end() || (i != a.end() && i->start_ns <= j->start_ns);
    append(set, first ? *i++ : *j++);
  }
  return set;
}

IntervalSet intersect(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet set;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    append(set, common(*i, *j));
    i->end_ns < j->end_ns ? ++i : ++j;
  }
  return set;
}

IntervalSet subtract(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet set;
  auto j = b.begin();
  for (const Interval& interval : a) {
    std::int64_t from = interval.start_ns;
    while (j != b.end() && j->end_ns <= from) ++j;
    for (auto k = j; k != b.end() && k->start_ns < interval.end_ns; ++k) {
      append(set, {from, k->start_ns});
      from = k->end_ns;
    }
    append(set, {from, interval.end_ns});
  }
  return set;
}

IntervalSet complement(const IntervalSet& set, Interval span) {
  IntervalSet result;
  visit_gaps(set, span, [&](std::int64_t start_ns, std::int64_t end_ns) { append(result, {start_ns, end_ns}); });
  return result;
}

Gaps gaps_within(const IntervalSet& set, Interval span) {
  Gaps gaps;
  visit_gaps(set, span, [&](std::int64_t start_ns, std::int64_t end_ns) {
    const std::int64_t length = end_ns - start_ns;
    if (length <= 0) return;
    ++gaps.count;
    gaps.total_ns += length;
    gaps.longest_ns = std::max(gaps.longest_ns, length);
  });
  return gaps;
}

std::int64_t length_ns(const IntervalSet& set) {
  std::int64_t sum = 0;
  for (const Interval& interval : set) sum += interval.end_ns - interval.start_ns;
  return sum;
}

std::int64_t length_within_ns(const IntervalSet& set, Interval span) {
  std::int64_t sum = 0;
  for (auto i = first_after(set, span.start_ns); i != set.end() && i->start_ns < span.end_ns; ++i) {
    const Interval part = common(*i, span);
    sum += std::max<std::int64_t>(0, part.end_ns - part.start_ns);
  }
  return sum;
}

}  // namespace kymo::analysis
