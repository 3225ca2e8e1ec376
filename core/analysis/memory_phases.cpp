// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "analysis/memory_timeline.hpp"

namespace kymo::analysis {

using event::MemoryEvent;
using event::MemoryPhase;
using event::MemoryState;

namespace {

/// Sort order of the rows: the whole step, then phases in declaration order, then the rest.
constexpr std::int32_t kWhole = -2;
constexpr std::int32_t kOutside = INT32_MAX;

/// The counters of the device at one time.
struct Level {
  MemoryState state;
  CategoryBytes categories{};
};

/// A phase or step begins; its first level is that of the preceding event.
struct Entry {
  std::int64_t time_ns = 0;
  std::int64_t step = -1;
  std::int32_t phase = kWhole;
};

class PhaseTable {
 public:
  PhaseTable(const std::vector<std::string>& phases, event::MemoryDevice device, std::int64_t warmup)
      : phases_(phases), device_(device), warmup_(warmup) {}

  /// Adds a level to the phase and to the whole step.
  void add(std::int64_t step, std::int32_t phase, std::int64_t time_ns, const Level& level) {
    if (!is_current(step, phase)) {
      current_ = {step, phase};
      whole_ = &row(step, kWhole, time_ns, level);
      part_ = &row(step, phase, time_ns, level);
    }
    raise(*whole_, time_ns, level);
    if (part_ != whole_) raise(*part_, time_ns, level);
  }
  /// Returns true if the last level was added to the same rows.
  bool is_current(std::int64_t step, std::int32_t phase) const {
    return whole_ != nullptr && current_ == std::pair{step, phase};
  }

  std::vector<MemoryPhase> take() {
    std::vector<MemoryPhase> rows;
    rows.reserve(rows_.size());
    for (auto& [position, phase] : rows_) rows.push_back(std::move(phase));
    return rows;
  }

 private:
  std::string name_of(std::int32_t phase) const {
    if (phase == kWhole) return event::kWholeStep;
    return phase == kOutside ? event::kOtherPhase : phases_[static_cast<std::size_t>(phase)];
  }

  MemoryPhase& row(std::int64_t step, std::int32_t phase, std::int64_t time_ns, const Level& level) {
    const auto [found, is_new] = rows_.try_emplace({step, phase});
    MemoryPhase& row = found->second;
    if (!is_new) return row;
    row.device = device_;
    row.step = step;
    row.phase = name_of(phase);
    row.warmup = step >= 0 && step < warmup_;
    row.begin_allocated_bytes = level.state.allocated_bytes;
    row.peak = level.state;
    set_peak(row, time_ns, level);
    return row;
  }

  static void set_peak(MemoryPhase& row, std::int64_t time_ns, const Level& level) {
    row.peak.allocated_bytes = level.state.allocated_bytes;
    row.peak_ns = time_ns;
    std::ranges::copy(level.categories, row.category_bytes);
  }

  static void raise(MemoryPhase& row, std::int64_t time_ns, const Level& level) {
    row.end_allocated_bytes = level.state.allocated_bytes;
    row.peak.requested_bytes = std::max(row.peak.requested_bytes, level.state.requested_bytes);
    row.peak.active_bytes = std::max(row.peak.active_bytes, level.state.active_bytes);
    row.peak.reserved_bytes = std::max(row.peak.reserved_bytes, level.state.reserved_bytes);
    if (level.state.allocated_bytes > row.peak.allocated_bytes) set_peak(row, time_ns, level);
  }

  const std::vector<std::string>& phases_;
  event::MemoryDevice device_;
  std::int64_t warmup_;
  std::map<std::pair<std::int64_t, std::int32_t>, MemoryPhase> rows_;
  std::pair<std::int64_t, std::int32_t> current_;
  MemoryPhase* whole_ = nullptr;  // rows of a map do not move
  MemoryPhase* part_ = nullptr;
};

std::vector<Entry> entries_of(const event::PassRecord& record) {
  std::vector<Entry> entries;
  for (const event::Range& range : record.trace.ranges) {
    if (!range.is_phase || range.phase < 0 || static_cast<std::size_t>(range.phase) >= record.trace.phases.size())
      continue;
    entries.push_back({range.start_ns, range.step, range.phase});
  }
  for (const event::Sample& sample : record.samples) {
    if (sample.phase == event::kWholeStep) entries.push_back({sample.start_ns, sample.step, kWhole});
  }
  std::ranges::stable_sort(entries, {}, &Entry::time_ns);
  return entries;
}

/// Estimates the counters before the first event by undoing its changes, with its requested size.
MemoryState state_before(const MemoryEvent& event) {
  using event::MemoryAction;
  MemoryState state = event.after;
  if (event.action == MemoryAction::kAllocate || event.action == MemoryAction::kFreeRequested) {
    const bool born = event.action == MemoryAction::kAllocate;
    // If this is the only block, the rounded-up part belongs to it.
    if (born && state.requested_bytes == event.bytes)
      state.requested_bytes = state.allocated_bytes = state.active_bytes = event.bytes;
    const std::int64_t bytes = born ? event.bytes : -event.bytes;
    state.requested_bytes -= bytes;
    state.allocated_bytes -= bytes;
    if (born) state.active_bytes -= bytes;
  }
  if (event.action == MemoryAction::kSegmentAllocate || event.action == MemoryAction::kSegmentMap)
    state.reserved_bytes -= event.bytes;
  if (event.action == MemoryAction::kSegmentFree || event.action == MemoryAction::kSegmentUnmap)
    state.reserved_bytes += event.bytes;
  if (event.device == event::MemoryDevice::kCpu) state.active_bytes = state.reserved_bytes = state.allocated_bytes;
  return state;
}

}  // namespace

std::vector<MemoryPhase> memory_phases(const event::PassRecord& record, event::MemoryDevice device,
                                       CategoryCurve& curve, std::int64_t warmup) {
  const std::vector<MemoryEvent>& events = record.memory_trace.events;
  const auto first = std::ranges::find(events, device, &MemoryEvent::device);
  if (first == events.end()) return {};
  const std::vector<Entry> entries = entries_of(record);
  const std::size_t phases = record.trace.phases.size();
  PhaseTable table(record.trace.phases, device, warmup);
  Level level{state_before(*first), {}};
  std::size_t next = 0;
  const auto enter_before = [&](std::int64_t time_ns) {
    for (; next < entries.size() && entries[next].time_ns < time_ns; ++next) {
      table.add(entries[next].step, entries[next].phase, entries[next].time_ns, level);
    }
  };
  curve.rewind();
  for (auto event = first; event != events.end(); ++event) {
    if (event->device != device) continue;
    enter_before(event->time_ns);
    const std::int32_t phase = event->position.phase;
    const std::int32_t row = phase >= 0 && static_cast<std::size_t>(phase) < phases ? phase : kOutside;
    if (!table.is_current(event->position.step, row))
      table.add(event->position.step, row, event->time_ns, level);  // the level at the begin counts too
    level.state = event->after;
    level.categories = curve.after(event - events.begin());
    table.add(event->position.step, row, event->time_ns, level);
  }
  enter_before(INT64_MAX);
  return table.take();
}

}  // namespace kymo::analysis
