// SPDX-License-Identifier: Apache-2.0
#include "collect/event_log/launch_log.hpp"

#include <algorithm>
#include <new>

namespace kymo::collect {
namespace {

constexpr std::size_t kMostChunkBytes = std::size_t{256} << 10;
constexpr std::size_t kLeastChunkBytes = std::size_t{4} << 10;
constexpr std::size_t kChunkShare = 32;
// Kind of a retracted launch. The entry remains, because a launch that take() may be reading is never overwritten.
constexpr auto kRetracted = static_cast<event::LaunchKind>(0xff);

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> number{0};
  return ++number;
}

/// The part of the log that the calling thread wrote to last.
struct Own {
  std::uint64_t log = 0;
  void* part = nullptr;
};
thread_local Own t_own;

}  // namespace

/// Header of an arena chunk; the launches follow it.
struct LaunchLog::Chunk {
  std::atomic<std::uint32_t> used{0};
  std::uint32_t capacity = 0;
  std::atomic<Chunk*> next{nullptr};

  event::Launch* launches() { return reinterpret_cast<event::Launch*>(this + 1); }
};

struct LaunchLog::ThreadPart {
  std::atomic<Chunk*> first{nullptr};
  enum class Open : std::uint8_t { kNone, kStored, kLost };
  // Accessed only by the owning thread:
  const ThreadStanding* standing = nullptr;
  Chunk* current = nullptr;
  Open open = Open::kNone;
  std::atomic<std::int64_t> lost{0};
};

LaunchLog::LaunchLog(EventArena& arena, const Standpoint& standpoint, std::int64_t run_start_ns)
    : arena_(arena),
      standpoint_(standpoint),
      run_start_ns_(run_start_ns),
      chunk_bytes_(std::clamp(arena.size_bytes() / kChunkShare, kLeastChunkBytes, kMostChunkBytes)),
      number_(next_number()) {
  static_assert(sizeof(Chunk) % alignof(event::Launch) == 0);
}

LaunchLog::~LaunchLog() = default;

LaunchLog::ThreadPart* LaunchLog::part_of_this_thread() noexcept {
  if (t_own.log == number_) return static_cast<ThreadPart*>(t_own.part);
  try {
    auto part = std::make_unique<ThreadPart>();
    part->standing = &standpoint_.standing();
    const std::lock_guard lock(mutex_);
    parts_.push_back(std::move(part));
    t_own = {number_, parts_.back().get()};
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return static_cast<ThreadPart*>(t_own.part);
}

LaunchLog::Chunk* LaunchLog::new_chunk(ThreadPart& part) noexcept {
  std::byte* memory = arena_.take_high(chunk_bytes_);
  if (!memory) return nullptr;
  auto* chunk = new (memory) Chunk;
  chunk->capacity = static_cast<std::uint32_t>((chunk_bytes_ - sizeof(Chunk)) / sizeof(event::Launch));
  (part.current ? part.current->next : part.first).store(chunk, std::memory_order_release);
  part.current = chunk;
  return chunk;
}

void LaunchLog::append(std::uint32_t correlation_id, event::LaunchKind kind) noexcept {
  ThreadPart* part = part_of_this_thread();
  if (!part) {
    lost_without_part_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Chunk* chunk = part->current;
  std::uint32_t used = chunk ? chunk->used.load(std::memory_order_relaxed) : 0;
  // A late thread may store its count into a chunk that take() has released, whose capacity is then 0.
  if (!chunk || used >= chunk->capacity) {
    chunk = new_chunk(*part);
    used = 0;
  }
  if (!chunk) {
    part->lost.fetch_add(1, std::memory_order_relaxed);
    part->open = ThreadPart::Open::kLost;
    return;
  }
  new (chunk->launches() + used) event::Launch{correlation_id, kind, clock_.read(), standpoint_.here(*part->standing)};
  chunk->used.store(used + 1, std::memory_order_release);
  // Prefetch the entry of the next launch, because the driver's next lock operation would wait for the store's cache
  // miss.
  __builtin_prefetch(chunk->launches() + used + 2, 1);
  part->open = ThreadPart::Open::kStored;
}

void LaunchLog::close() noexcept {
  if (t_own.log == number_) static_cast<ThreadPart*>(t_own.part)->open = ThreadPart::Open::kNone;
}

void LaunchLog::retract() noexcept {
  if (t_own.log != number_) return;
  auto& part = *static_cast<ThreadPart*>(t_own.part);
  if (part.open == ThreadPart::Open::kStored) {
    // 0 for a late thread whose chunk take() has released.
    const std::uint32_t used = part.current->used.load(std::memory_order_relaxed);
    if (used > 0) std::atomic_ref(part.current->launches()[used - 1].kind).store(kRetracted, std::memory_order_relaxed);
  }
  if (part.open == ThreadPart::Open::kLost) part.lost.fetch_sub(1, std::memory_order_relaxed);
  part.open = ThreadPart::Open::kNone;
}

void LaunchLog::take(std::vector<event::Launch>& launches) {
  const std::lock_guard lock(mutex_);
  std::size_t count = launches.size();
  for (const auto& part : parts_) {
    for (Chunk* chunk = part->first.load(std::memory_order_acquire); chunk;
         chunk = chunk->next.load(std::memory_order_acquire)) {
      count += chunk->used.load(std::memory_order_acquire);
    }
  }
  launches.reserve(count);
  clock_.finish();
  for (const auto& part : parts_) {
    for (Chunk* chunk = part->first.load(std::memory_order_acquire); chunk;) {
      // Read before the contents: a chunk with a successor is full, so a late thread leaves no gap.
      Chunk* next = chunk->next.load(std::memory_order_acquire);
      take_chunk(*chunk, launches);
      // A late thread sees zeros, which means a full chunk, and does no harm.
      EventArena::release(reinterpret_cast<std::byte*>(chunk), chunk_bytes_);
      chunk = next;
    }
    part->first.store(nullptr, std::memory_order_relaxed);
  }
}

void LaunchLog::take_chunk(Chunk& chunk, std::vector<event::Launch>& launches) const {
  const std::uint32_t used = chunk.used.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    event::Launch& launch = chunk.launches()[i];
    const event::LaunchKind kind = std::atomic_ref(launch.kind).load(std::memory_order_relaxed);
    if (kind == kRetracted) continue;
    launches.push_back({launch.correlation_id, kind, clock_.host_ns(launch.time_ns) - run_start_ns_, launch.place});
  }
}

std::int64_t LaunchLog::lost() const {
  const std::lock_guard lock(mutex_);
  std::int64_t sum = lost_without_part_.load(std::memory_order_relaxed);
  for (const auto& part : parts_) sum += part->lost.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace kymo::collect
