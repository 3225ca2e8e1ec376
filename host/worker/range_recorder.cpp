// SPDX-License-Identifier: Apache-2.0
#include "worker/range_recorder.hpp"

#include <algorithm>
#include <iterator>

#include "base/clock.hpp"

namespace kymo::worker {
namespace {

// Limit on the ranges of one pass, about 100 bytes each; further ranges are counted as dropped records.
constexpr std::int32_t kMaxRanges = 1'000'000;

std::atomic<RangeRecorder*> recording{nullptr};
// Identifies the current recorder, so that threads discard data cached for an earlier one.
std::atomic<std::uint64_t> generation{0};

/// Never destroyed: collectors that used it during a pass may read it once more afterwards.
collect::ThreadPosition& own_position() {
  static auto* const all = new std::deque<collect::ThreadPosition>;
  static auto* const mutex = new std::mutex;
  thread_local collect::ThreadPosition* own = nullptr;
  if (own == nullptr) {
    const std::lock_guard lock(*mutex);
    own = &all->emplace_back();
  }
  return *own;
}

}  // namespace

RangeRecorder::RangeRecorder(std::int64_t run_start_ns) : run_start_ns_(run_start_ns) {
  generation.fetch_add(1);
  recording.store(this);
  collect::ExecutionContext& here = execution_context();
  here.step = -1;
  here.phase = -1;
  here.this_thread = position_of_this_thread;
}

RangeRecorder::~RangeRecorder() { recording.store(nullptr); }

collect::ExecutionContext& RangeRecorder::execution_context() {
  static collect::ExecutionContext instance;
  return instance;
}

RangeRecorder::ThreadLog* RangeRecorder::log_of_this_thread() noexcept {
  thread_local ThreadLog* log = nullptr;
  thread_local std::uint64_t log_generation = 0;
  RangeRecorder* const recorder = recording.load(std::memory_order_acquire);
  if (!recorder) return nullptr;
  const std::uint64_t now = generation.load(std::memory_order_relaxed);
  if (log_generation != now) {
    log = recorder->add_thread();
    log_generation = now;
  }
  return log;
}

RangeRecorder::ThreadLog* RangeRecorder::add_thread() {
  const std::lock_guard lock(mutex_);
  collect::ThreadPosition& position = own_position();
  position = {-1, static_cast<std::uint32_t>(threads_.size())};
  threads_.push_back(std::make_unique<ThreadLog>());
  threads_.back()->position = &position;
  return threads_.back().get();
}

const collect::ThreadPosition& RangeRecorder::position_of_this_thread() noexcept {
  const ThreadLog* log = log_of_this_thread();
  return log ? *log->position : collect::kNoPosition;
}

void RangeRecorder::set_step(std::int64_t step) {
  execution_context().step.store(static_cast<std::int32_t>(step), std::memory_order_relaxed);
}

void RangeRecorder::begin_phase(int phase, const std::string& name) {
  execution_context().phase.store(phase, std::memory_order_relaxed);
  phase_log_ = log_of_this_thread();
  if (phase_log_) begin(*phase_log_, true, phase, name.c_str());
}

void RangeRecorder::end_phase() {
  execution_context().phase.store(-1, std::memory_order_relaxed);
  if (phase_log_) end(*phase_log_, true);
  phase_log_ = nullptr;
}

void RangeRecorder::begin_scope(const char* name) {
  if (ThreadLog* log = log_of_this_thread())
    begin(*log, false, execution_context().phase.load(std::memory_order_relaxed), name);
}

void RangeRecorder::end_scope() {
  ThreadLog* log = log_of_this_thread();
  if (log && !end(*log, false)) unmatched_.fetch_add(1);
}

void RangeRecorder::begin(ThreadLog& log, bool is_phase, int phase, const char* name) {
  const std::int32_t number = next_number_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(log.mutex);
  event::Range* added = nullptr;
  if (number < kMaxRanges) {
    const KnownScope named =
        is_phase ? KnownScope{name, event::kNoText, log.texts.intern(name), event::kNoText} : scope_named(log, name);
    added = &log.ranges.emplace_back(number, event::Range{}).second;
    event::Range& range = *added;
    range.is_phase = is_phase;
    range.name = named.name;
    range.path = named.path;
    range.parent = log.open.empty() ? -1 : log.open.back().number;
    range.step = execution_context().step.load(std::memory_order_relaxed);
    range.phase = phase;
    range.thread = log.position->number;
    if (const auto next_node = execution_context().next_node.load(std::memory_order_relaxed))
      range.first_node = next_node();
    range.start_ns = now_ns() - run_start_ns_;
  } else {
    dropped_.fetch_add(1);
  }
  log.open.push_back({added, added ? number : -1, is_phase});
  if (!is_phase && added) log.position->range = number;
}

/// Usually the same names are passed at the same addresses and need no lookup. The content at an address may have
/// changed.
const RangeRecorder::KnownScope& RangeRecorder::scope_named(ThreadLog& log, const char* name) {
  const event::Range* range = log.open.empty() ? nullptr : log.open.back().range;
  const event::TextId around = range ? range->path : event::kNoText;
  const auto hash = reinterpret_cast<std::uintptr_t>(name);
  KnownScope& known = log.known[(hash ^ hash >> 8 ^ std::uintptr_t{around} * 37) % kKnownScopes];
  if (known.address != name || known.around != around || log.texts.text(known.name) != name)
    known = {name, around, log.texts.intern(name), path_of(log, around, name)};
  return known;
}

/// Composed in a reused buffer, so that a scope whose path is already known does not allocate during the observed step.
event::TextId RangeRecorder::path_of(ThreadLog& log, event::TextId around, const char* name) {
  if (around == event::kNoText) return log.texts.intern(name);
  log.path = log.texts.text(around);
  log.path += '/';
  log.path += name;
  return log.texts.intern(log.path);
}

bool RangeRecorder::end(ThreadLog& log, bool is_phase) {
  const std::int64_t end_ns = now_ns() - run_start_ns_;
  const std::lock_guard lock(log.mutex);
  // Scopes need not be nested in phases: find the innermost open range of the same kind.
  const auto found = std::find_if(log.open.rbegin(), log.open.rend(),
                                  [&](const OpenRange& each) { return each.is_phase == is_phase; });
  if (found == log.open.rend()) return false;
  if (event::Range* range = found->range) {
    range->end_ns = end_ns;
    if (const auto next_node = execution_context().next_node.load(std::memory_order_relaxed))
      range->end_sequence = next_node().sequence;
  }
  log.open.erase(std::next(found).base());
  const auto scope = std::find_if(log.open.rbegin(), log.open.rend(),
                                  [](const OpenRange& each) { return !each.is_phase && each.number >= 0; });
  log.position->range = scope == log.open.rend() ? -1 : scope->number;
  return true;
}

void RangeRecorder::add_new(event::NewEvents& events) {
  const std::lock_guard lock(mutex_);
  for (const auto& log : threads_) {
    const std::lock_guard log_lock(log->mutex);
    const auto id_of = [&](event::TextId text) { return log->added_texts.id(text, log->texts, events.texts); };
    for (; log->added < log->ranges.size(); ++log->added) {
      const auto& [number, range] = log->ranges[log->added];
      event::Range& added = events.ranges.emplace_back(number, range).event;
      added.name = id_of(range.name);
      added.path = id_of(range.path);
    }
  }
}

void RangeRecorder::collect(event::PassRecord& record) {
  recording.store(nullptr);
  const std::lock_guard lock(mutex_);
  event::Trace& trace = record.trace;
  trace.ranges.resize(static_cast<std::size_t>(std::min(next_number_.load(), kMaxRanges)));
  for (const auto& log : threads_) {
    const std::lock_guard log_lock(log->mutex);
    for (auto& [number, range] : log->ranges) {
      range.name = trace.texts.intern(log->texts.text(range.name));
      range.path = trace.texts.intern(log->texts.text(range.path));
      trace.ranges[static_cast<std::size_t>(number)] = range;
    }
  }
  add_dropped(record.dropped_records, "scope", dropped_.load(),
              "phases and scopes beyond the first " + std::to_string(kMaxRanges) + " of a pass");
  add_dropped(record.dropped_records, "scope", unmatched_.load(),
              "scopes that ended without a matching begin on the same thread");
}

}  // namespace kymo::worker
