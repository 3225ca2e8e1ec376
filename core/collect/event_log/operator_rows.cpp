// SPDX-License-Identifier: Apache-2.0
#include "collect/event_log/operator_rows.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

namespace kymo::collect {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kMaxChunkBytes = std::size_t{256} << 10;
constexpr std::size_t kChunkShare = 32;
// Prefaulted memory for about 500,000 calls, so that steps do not pay for the page faults.
constexpr std::size_t kWarmBytes = std::size_t{32} << 20;
constexpr std::size_t kFirstSlots = 512;
constexpr std::size_t kTextAlignment = 8;
constexpr std::int64_t kMaxBytes = std::int64_t{sizeof(OperatorRow)} * std::numeric_limits<std::int32_t>::max();

std::size_t chunk_bytes(std::size_t all_bytes) {
  return std::clamp(all_bytes / kChunkShare / kPageBytes * kPageBytes, kPageBytes, kMaxChunkBytes);
}

}  // namespace

OperatorRows::OperatorRows(std::int64_t bytes)
    : arena_(std::min(bytes, kMaxBytes)), begin_(arena_.take_low(0)), chunk_bytes_(chunk_bytes(arena_.size_bytes())) {
  static_assert(sizeof(OperatorRow) == 64 && sizeof(Chunk) % alignof(OperatorRow) == 0);
  warm();
}

void OperatorRows::warm() noexcept { arena_.warm(kWarmBytes, 0); }

std::int64_t OperatorRows::published() const noexcept {
  std::int64_t count = 0;
  for (const Chunk* chunk = last_.load(std::memory_order_acquire); chunk; chunk = chunk->before)
    count += chunk->used.load(std::memory_order_acquire);
  return count;
}

void OperatorRows::release() noexcept {
  last_.store(nullptr, std::memory_order_release);
  EventArena::release(begin_, arena_.size_bytes());
}

OperatorRows::Chunk* OperatorRows::take_chunk(std::uint32_t thread) noexcept {
  std::byte* const memory = arena_.take_low(chunk_bytes_);
  if (!memory) return nullptr;
  auto* const chunk = new (memory) Chunk;
  chunk->thread = thread;
  chunk->before = last_.load(std::memory_order_relaxed);
  while (!last_.compare_exchange_weak(chunk->before, chunk, std::memory_order_release, std::memory_order_relaxed))
    continue;
  return chunk;
}

void RowWriter::begin(OperatorRows& rows, std::uint32_t thread) {
  store_ = nullptr;
  chunk_ = nullptr;
  used_ = 0;
  next_ = limit_ = nullptr;
  texts_ = 0;
  slots_.assign(kFirstSlots, {});
  store_ = &rows;
  thread_ = thread;
}

bool RowWriter::open_chunk() noexcept {
  OperatorRows::Chunk* const chunk = store_->take_chunk(thread_);
  if (!chunk) return false;
  chunk_ = chunk;
  used_ = 0;
  next_ = reinterpret_cast<std::byte*>(chunk->rows());
  limit_ = reinterpret_cast<std::byte*>(chunk) + store_->chunk_bytes_;
  return true;
}

bool RowWriter::intern(std::string_view text, const RowText*& kept) {
  kept = nullptr;
  if (text.empty()) return true;
  const std::size_t hash = std::hash<std::string_view>{}(text);
  std::size_t at = hash & (slots_.size() - 1);
  for (; slots_[at].text; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].hash != hash || slots_[at].text->view() != text) continue;
    kept = slots_[at].text;
    return true;
  }
  kept = keep(text);
  if (!kept) return false;
  slots_[at] = {hash, kept};
  if (2 * ++texts_ > slots_.size()) grow();
  return true;
}

const RowText* RowWriter::keep(std::string_view text) noexcept {
  // The bound includes the table's slots; the corresponding bytes stay unused.
  const std::size_t wanted = sizeof(RowText) + text.size() + 2 * sizeof(Slot);
  const std::size_t bytes = (wanted + kTextAlignment - 1) / kTextAlignment * kTextAlignment;
  if (bytes > store_->chunk_bytes_ - sizeof(OperatorRows::Chunk)) return nullptr;
  if (static_cast<std::size_t>(limit_ - next_) < bytes && !open_chunk()) return nullptr;
  limit_ -= bytes;
  auto* const kept = new (limit_) RowText{static_cast<std::uint32_t>(text.size()), 0};
  std::memcpy(kept + 1, text.data(), text.size());
  return kept;
}

void RowWriter::grow() {
  std::vector<Slot> slots(2 * slots_.size());
  for (const Slot& slot : slots_) {
    if (!slot.text) continue;
    std::size_t at = slot.hash & (slots.size() - 1);
    while (slots[at].text) at = (at + 1) & (slots.size() - 1);
    slots[at] = slot;
  }
  slots_.swap(slots);
}

}  // namespace kymo::collect
