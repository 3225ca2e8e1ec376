// SPDX-License-Identifier: Apache-2.0
#include "worker/noted_steps.hpp"

#include <algorithm>
#include <cstddef>
#include <new>

#include "store/journal_format.hpp"
#include "store/step_journal.hpp"

namespace kymo::worker {
namespace {

constexpr std::size_t kMaxSteps = 256;

// The program writes what the journal and the log store.
static_assert(sizeof(event::StepTime) == sizeof(kymo_noted_step) - offsetof(kymo_noted_step, step));
static_assert(offsetof(kymo_noted_step, step) == store::kBlockHeadBytes);
static_assert(offsetof(event::StepTime, begin_ns) == offsetof(kymo_noted_step, begin_ns) - store::kBlockHeadBytes);
static_assert(offsetof(event::StepTime, end_ns) == offsetof(kymo_noted_step, end_ns) - store::kBlockHeadBytes);
static_assert(offsetof(event::StepTime, device_ns) == offsetof(kymo_noted_step, device_ns) - store::kBlockHeadBytes);
static_assert(offsetof(event::StepTime, cpu_ns) == offsetof(kymo_noted_step, cpu_ns) - store::kBlockHeadBytes);
static_assert(offsetof(event::StepTime, involuntary_switches) ==
              offsetof(kymo_noted_step, involuntary_switches) - store::kBlockHeadBytes);
static_assert(offsetof(event::StepTime, warmup) == offsetof(kymo_noted_step, warmup) - store::kBlockHeadBytes);
static_assert(offsetof(event::StepTime, throttled) == offsetof(kymo_noted_step, throttled) - store::kBlockHeadBytes);
static_assert(sizeof(event::PhaseTime) == sizeof(kymo_phase_time));
static_assert(offsetof(event::PhaseTime, start_ns) == offsetof(kymo_phase_time, start_ns));
static_assert(offsetof(event::PhaseTime, host_ns) == offsetof(kymo_phase_time, host_ns));
static_assert(offsetof(event::PhaseTime, device_ns) == offsetof(kymo_phase_time, device_ns));

}  // namespace

NotedSteps::NotedSteps(kymo_noted_steps& shared, std::size_t phases, store::StepJournal* journal,
                       measure::StatusPage* status_page)
    : shared_(shared), phases_(phases), journal_(journal) {
  shared_.kind = static_cast<std::uint32_t>(store::BlockKind::kStep);
  shared_.block_bytes = static_cast<std::uint32_t>(sizeof(kymo_noted_step) + phases * sizeof(kymo_phase_time));
  shared_.shown_step = status_page ? status_page->shown_step() : &unseen_step_;
  shared_.shown_phase = status_page ? status_page->shown_phase() : &unseen_phase_;
}

void NotedSteps::prepare(std::int64_t first, std::int64_t limit, bool warmup, std::int64_t due_ns) {
  const std::size_t bytes = shared_.block_bytes;
  std::span<std::byte> room = journal_ ? journal_->room_for(bytes) : std::span<std::byte>();
  in_journal_ = !room.empty();
  shared_.offset = in_journal_ ? journal_->offset() : 0;
  shared_.addition = in_journal_ ? journal_->addition() : 0;
  if (!in_journal_) {
    memory_.resize(kMaxSteps * bytes / sizeof(std::int64_t));
    room = std::as_writable_bytes(std::span(memory_));
  }
  const auto fitting = static_cast<std::int64_t>(std::min(room.size() / bytes, kMaxSteps));
  shared_.blocks = reinterpret_cast<char*>(room.data());
  shared_.count = 0;
  shared_.limit = static_cast<std::uint32_t>(std::clamp<std::int64_t>(limit, 1, fitting));
  shared_.first = first;
  shared_.warmup = warmup ? 1 : 0;
  shared_.due_ns = due_ns;
}

char* NotedSteps::block(std::int64_t index) const {
  return shared_.blocks + static_cast<std::size_t>(index) * shared_.block_bytes;
}

event::StepTime& NotedSteps::time_at(std::int64_t index) const {
  return *std::launder(reinterpret_cast<event::StepTime*>(block(index) + store::kBlockHeadBytes));
}

std::span<const event::PhaseTime> NotedSteps::phases(std::int64_t index) const {
  return {std::launder(reinterpret_cast<const event::PhaseTime*>(block(index) + sizeof(kymo_noted_step))), phases_};
}

void NotedSteps::set_usage(const ProcessUsage& usage) {
  if (count() == 0) return;
  for (std::int64_t i = 0; i < count(); ++i) {
    time_at(i).cpu_ns = (usage.cpu_ns + count() / 2) / count();
    if (i == count() - 1) time_at(i).involuntary_switches = usage.involuntary_switches;
    set_checksum(i);
  }
}

void NotedSteps::set_checksum(std::int64_t index) const {
  auto& head = *std::launder(reinterpret_cast<kymo_block_head*>(block(index)));
  const std::uint64_t offset = shared_.offset + static_cast<std::uint64_t>(index) * shared_.block_bytes;
  head.checksum = kymo_block_checksum(&head, offset, block(index) + store::kBlockHeadBytes);
}

void NotedSteps::keep() {
  if (in_journal_) journal_->use_room(shared_.count * std::size_t{shared_.block_bytes}, shared_.count);
}

}  // namespace kymo::worker
