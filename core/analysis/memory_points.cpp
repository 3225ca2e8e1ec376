// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <map>

#include "analysis/memory_timeline.hpp"
#include "base/ranges.hpp"

namespace kymo::analysis {

using event::Allocation;
using event::MemoryDevice;
using event::MemoryEvent;
using event::MemoryPoint;
using event::MemoryState;

CategoryCurve::CategoryCurve(const std::vector<Allocation>& allocations, MemoryDevice device) {
  for (const Allocation& block : allocations) {
    if (block.device != device) continue;
    const auto category = static_cast<std::size_t>(block.category);
    changes_.push_back({block.sequence, block.allocated_bytes, category});
    if (block.free_sequence) changes_.push_back({*block.free_sequence, -block.allocated_bytes, category});
  }
  std::ranges::sort(changes_, {}, &Change::sequence);
}

void CategoryCurve::rewind() {
  next_ = 0;
  bytes_ = {};
}

const CategoryBytes& CategoryCurve::after(std::int64_t sequence) {
  for (; next_ < changes_.size() && changes_[next_].sequence <= sequence; ++next_) {
    bytes_[changes_[next_].category] += changes_[next_].bytes;
  }
  return bytes_;
}

namespace {

constexpr std::size_t kCounters = 4;
constexpr std::int64_t kPartsOfRange = 1'000;
constexpr std::size_t kPointsPerBucket = 4;

std::array<std::int64_t, kCounters> counters(const MemoryState& state) {
  return {state.requested_bytes, state.allocated_bytes, state.active_bytes, state.reserved_bytes};
}

/// All plotted values at one moment.
struct Values {
  std::array<std::int64_t, kCounters> counters{};
  CategoryBytes categories{};

  bool is_far_from(const Values& other, std::int64_t bound) const {
    for (std::size_t i = 0; i < kCounters; ++i) {
      if (std::llabs(counters[i] - other.counters[i]) > bound) return true;
    }
    for (std::size_t i = 0; i < event::kMemoryCategories; ++i) {
      if (std::llabs(categories[i] - other.categories[i]) > bound) return true;
    }
    return false;
  }
};

using Sequences = std::vector<std::size_t>;

Sequences events_of(const std::vector<MemoryEvent>& events, MemoryDevice device) {
  Sequences all;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].device == device) all.push_back(i);
  }
  return all;
}

/// Returns the events at which a curve changes, each with its predecessor, which holds the previous level.
Sequences moves(const std::vector<MemoryEvent>& events, const Sequences& all, CategoryCurve& curve) {
  const auto [low, high] =
      std::ranges::minmax_element(all, {}, [&](std::size_t event) { return events[event].after.allocated_bytes; });
  const std::int64_t bound = (events[*high].after.allocated_bytes - events[*low].after.allocated_bytes) / kPartsOfRange;
  Sequences kept;
  Values last;
  curve.rewind();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Values now{counters(events[all[i]].after), curve.after(static_cast<std::int64_t>(all[i]))};
    if (i > 0 && !now.is_far_from(last, bound)) continue;
    if (i > 0 && kept.back() != all[i - 1]) kept.push_back(all[i - 1]);
    kept.push_back(all[i]);
    last = now;
  }
  return kept;
}

/// Returns the first, last, lowest and highest event of each of a number of equal time intervals.
Sequences thinned(const std::vector<MemoryEvent>& events, const Sequences& moved) {
  const std::int64_t begin = events[moved.front()].time_ns;
  const std::int64_t span = std::max<std::int64_t>(events[moved.back()].time_ns - begin, 1);
  constexpr auto kBuckets = static_cast<std::int64_t>(kMaxMemoryPoints / kPointsPerBucket);
  const auto bucket_of = [&](std::size_t sequence) {
    const auto position = static_cast<double>(events[sequence].time_ns - begin) / static_cast<double>(span);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(position * kBuckets), 0, kBuckets - 1);
  };
  const auto allocated = [&](std::size_t event) { return events[event].after.allocated_bytes; };
  std::vector<Sequences> buckets(static_cast<std::size_t>(kBuckets));
  for (const std::size_t sequence : moved) buckets[static_cast<std::size_t>(bucket_of(sequence))].push_back(sequence);
  Sequences kept;
  for (const Sequences& bucket : buckets) {
    if (bucket.empty()) continue;
    kept.insert(kept.end(), {bucket.front(), bucket.back(), *std::ranges::min_element(bucket, {}, allocated),
                             *std::ranges::max_element(bucket, {}, allocated)});
  }
  return kept;
}

/// Returns the peak of each counter in each phase of each step.
Sequences highest(const std::vector<MemoryEvent>& events, const Sequences& all) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::array<std::size_t, kCounters>> tops;
  auto current = tops.end();
  for (const std::size_t sequence : all) {
    const std::pair position{events[sequence].position.step, events[sequence].position.phase};
    if (current == tops.end() || current->first != position) {
      std::array<std::size_t, kCounters> first;
      first.fill(sequence);
      current = tops.emplace(position, first).first;
    }
    const auto now = counters(events[sequence].after);
    for (std::size_t i = 0; i < kCounters; ++i) {
      if (now[i] > counters(events[current->second[i]].after)[i]) current->second[i] = sequence;
    }
  }
  Sequences kept;
  for (const auto& [position, sequences] : tops) append_range(kept, sequences);
  return kept;
}

}  // namespace

std::vector<MemoryPoint> memory_points(const std::vector<MemoryEvent>& events, MemoryDevice device,
                                       CategoryCurve& curve) {
  const Sequences all = events_of(events, device);
  if (all.empty()) return {};
  Sequences kept = moves(events, all, curve);
  if (kept.size() > kMaxMemoryPoints) kept = thinned(events, kept);
  const Sequences tops = highest(events, all);
  append_range(kept, tops);
  kept.push_back(all.back());
  kept.push_back(all.front());
  std::ranges::sort(kept);
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());

  std::vector<MemoryPoint> points;
  points.reserve(kept.size());
  for (const std::size_t sequence : kept) {
    const MemoryEvent& event = events[sequence];
    MemoryPoint point;
    point.sequence = static_cast<std::int64_t>(sequence);
    point.device = device;
    point.time_ns = event.time_ns;
    point.step = event.position.step;
    point.phase = event.position.phase;
    point.state = event.after;
    points.push_back(point);
  }
  return points;
}

}  // namespace kymo::analysis
