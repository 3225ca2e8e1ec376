// SPDX-License-Identifier: Apache-2.0
#include "collect/event_log/launch_log.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace kymo::collect {
namespace {

constexpr std::size_t kMaxChunkBytes = std::size_t{256} << 10;
constexpr std::size_t kMinChunkBytes = std::size_t{4} << 10;
constexpr std::size_t kChunkShare = 32;
// Kind of a retracted launch. The entry remains, because a launch that take() may be reading is never overwritten.
constexpr auto kRetracted = static_cast<event::LaunchKind>(0xff);

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> number{0};
  return ++number;
}

/// The part of the log that the calling thread wrote to last.
struct CurrentLog {
  std::uint64_t log_number = 0;
  void* thread_log = nullptr;
};
thread_local CurrentLog t_current;

}  // namespace

/// Header of an arena chunk; the launches follow it.
struct LaunchLog::Chunk {
  std::atomic<std::uint32_t> used{0};
  std::uint32_t capacity = 0;
  std::uint32_t added = 0;  // by add_new()
  std::atomic<Chunk*> next{nullptr};

  event::Launch* launches() { return reinterpret_cast<event::Launch*>(this + 1); }
};

struct LaunchLog::ThreadLog {
  std::atomic<Chunk*> first{nullptr};
  enum class Open : std::uint8_t { kNone, kStored, kDropped };
  // Accessed only by the owning thread:
  const ThreadPosition* thread_position = nullptr;
  Chunk* current = nullptr;
  Open open = Open::kNone;
  std::atomic<std::int64_t> dropped{0};
};

LaunchLog::LaunchLog(EventArena& arena, const ExecutionContext& execution_context, std::int64_t run_start_ns)
    : arena_(arena),
      execution_context_(execution_context),
      run_start_ns_(run_start_ns),
      chunk_bytes_(std::clamp(arena.size_bytes() / kChunkShare, kMinChunkBytes, kMaxChunkBytes)),
      number_(next_number()) {
  static_assert(sizeof(Chunk) % alignof(event::Launch) == 0);
}

LaunchLog::~LaunchLog() = default;

LaunchLog::ThreadLog* LaunchLog::log_of_this_thread() noexcept {
  if (t_current.log_number == number_) return static_cast<ThreadLog*>(t_current.thread_log);
  try {
    auto thread_log = std::make_unique<ThreadLog>();
    thread_log->thread_position = &execution_context_.thread_position();
    const std::lock_guard lock(mutex_);
    thread_logs_.push_back(std::move(thread_log));
    t_current = {number_, thread_logs_.back().get()};
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return static_cast<ThreadLog*>(t_current.thread_log);
}

LaunchLog::Chunk* LaunchLog::new_chunk(ThreadLog& thread_log) noexcept {
  std::byte* memory = arena_.take_high(chunk_bytes_);
  if (!memory) return nullptr;
  auto* chunk = new (memory) Chunk;
  chunk->capacity = static_cast<std::uint32_t>((chunk_bytes_ - sizeof(Chunk)) / sizeof(event::Launch));
  (thread_log.current ? thread_log.current->next : thread_log.first).store(chunk, std::memory_order_release);
  thread_log.current = chunk;
  return chunk;
}

void LaunchLog::append(std::uint32_t correlation_id, event::LaunchKind kind) noexcept {
  ThreadLog* thread_log = log_of_this_thread();
  if (!thread_log) {
    dropped_without_log_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Chunk* chunk = thread_log->current;
  std::uint32_t used = chunk ? chunk->used.load(std::memory_order_relaxed) : 0;
  // A late thread may store its count into a chunk that take() has released, whose capacity is then 0.
  if (!chunk || used >= chunk->capacity) {
    chunk = new_chunk(*thread_log);
    used = 0;
  }
  if (!chunk) {
    thread_log->dropped.fetch_add(1, std::memory_order_relaxed);
    thread_log->open = ThreadLog::Open::kDropped;
    return;
  }
  new (chunk->launches() + used)
      event::Launch{correlation_id, kind, clock_.read(), execution_context_.position(*thread_log->thread_position)};
  chunk->used.store(used + 1, std::memory_order_release);
  // Prefetch the entry of the next launch, because the driver's next lock operation would wait for the store's cache
  // miss.
  __builtin_prefetch(chunk->launches() + used + 2, 1);
  thread_log->open = ThreadLog::Open::kStored;
}

void LaunchLog::close() noexcept {
  if (t_current.log_number == number_) static_cast<ThreadLog*>(t_current.thread_log)->open = ThreadLog::Open::kNone;
}

void LaunchLog::retract() noexcept {
  if (t_current.log_number != number_) return;
  auto& thread_log = *static_cast<ThreadLog*>(t_current.thread_log);
  if (thread_log.open == ThreadLog::Open::kStored) {
    // 0 for a late thread whose chunk take() has released.
    const std::uint32_t used = thread_log.current->used.load(std::memory_order_relaxed);
    if (used > 0)
      std::atomic_ref(thread_log.current->launches()[used - 1].kind).store(kRetracted, std::memory_order_relaxed);
  }
  if (thread_log.open == ThreadLog::Open::kDropped) thread_log.dropped.fetch_sub(1, std::memory_order_relaxed);
  thread_log.open = ThreadLog::Open::kNone;
}

void LaunchLog::add_new(std::vector<event::Launch>& launches) {
  const std::lock_guard lock(mutex_);
  clock_.finish();
  for (const auto& thread_log : thread_logs_) {
    for (Chunk* chunk = thread_log->first.load(std::memory_order_acquire); chunk;) {
      // Read before the contents: a chunk with a successor is full, so its launches come before those of the successor.
      Chunk* const next = chunk->next.load(std::memory_order_acquire);
      const std::uint32_t used = chunk->used.load(std::memory_order_acquire);
      copy(*chunk, std::exchange(chunk->added, used), used, launches);
      chunk = next;
    }
  }
}

void LaunchLog::take(std::vector<event::Launch>& launches) {
  const std::lock_guard lock(mutex_);
  std::size_t count = launches.size();
  for (const auto& thread_log : thread_logs_) {
    for (Chunk* chunk = thread_log->first.load(std::memory_order_acquire); chunk;
         chunk = chunk->next.load(std::memory_order_acquire)) {
      count += chunk->used.load(std::memory_order_acquire);
    }
  }
  launches.reserve(count);
  clock_.finish();
  for (const auto& thread_log : thread_logs_) {
    for (Chunk* chunk = thread_log->first.load(std::memory_order_acquire); chunk;) {
      // Read before the contents: a chunk with a successor is full, so a late thread leaves no gap.
      Chunk* next = chunk->next.load(std::memory_order_acquire);
      copy(*chunk, 0, chunk->used.load(std::memory_order_acquire), launches);
      // A late thread sees zeros, which means a full chunk, and does no harm.
      EventArena::release(reinterpret_cast<std::byte*>(chunk), chunk_bytes_);
      chunk = next;
    }
    thread_log->first.store(nullptr, std::memory_order_relaxed);
  }
}

void LaunchLog::copy(Chunk& chunk, std::uint32_t first, std::uint32_t end, std::vector<event::Launch>& launches) const {
  for (std::uint32_t i = first; i < end; ++i) {
    event::Launch& launch = chunk.launches()[i];
    const event::LaunchKind kind = std::atomic_ref(launch.kind).load(std::memory_order_relaxed);
    if (kind == kRetracted) continue;
    launches.push_back({launch.correlation_id, kind, clock_.host_ns(launch.time_ns) - run_start_ns_, launch.position});
  }
}

std::int64_t LaunchLog::dropped() const {
  const std::lock_guard lock(mutex_);
  std::int64_t sum = dropped_without_log_.load(std::memory_order_relaxed);
  for (const auto& thread_log : thread_logs_) sum += thread_log->dropped.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace kymo::collect
