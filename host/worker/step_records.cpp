// SPDX-License-Identifier: Apache-2.0
#include "worker/step_records.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <new>

#include "store/journal_format.hpp"
#include "store/step_journal.hpp"

namespace kymo::worker {
namespace {

constexpr std::size_t kMaxSteps = 256;

}  // namespace

StepRecords::StepRecords(kymo_step_records& shared, std::size_t phases, store::StepJournal* journal,
                         measure::StatusPage* status_page)
    : shared_(shared), phases_(phases), journal_(journal) {
  shared_.kind = static_cast<std::uint32_t>(store::BlockKind::kStep);
  shared_.record_bytes = static_cast<std::uint32_t>(sizeof(kymo_step_record) + phases * sizeof(kymo_phase_time));
  shared_.shown_step = status_page ? status_page->shown_step() : &unseen_step_;
  shared_.shown_phase = status_page ? status_page->shown_phase() : &unseen_phase_;
}

void StepRecords::prepare(std::int64_t first, std::int64_t limit, bool warmup, std::int64_t due_ns) {
  const std::size_t bytes = shared_.record_bytes;
  memory_.resize(kMaxSteps * bytes / sizeof(std::int64_t));
  shared_.records = reinterpret_cast<char*>(memory_.data());
  const std::span<std::byte> room = journal_ ? journal_->room_for(bytes) : std::span<std::byte>();
  shared_.journal = reinterpret_cast<char*>(room.data());
  if (shared_.journal) {
    shared_.offset = journal_->offset();
    shared_.addition = journal_->addition();
  }
  const auto fitting = static_cast<std::int64_t>(room.empty() ? kMaxSteps : std::min(room.size() / bytes, kMaxSteps));
  shared_.count = 0;
  shared_.limit = static_cast<std::uint32_t>(std::clamp<std::int64_t>(limit, 1, fitting));
  shared_.first = first;
  shared_.warmup = warmup;
  shared_.due_ns = due_ns;
}

kymo_step_record& StepRecords::at(std::int64_t index) const {
  return *std::launder(reinterpret_cast<kymo_step_record*>(shared_.records + offset_of(index)));
}

std::span<const event::PhaseTime> StepRecords::phases(std::int64_t index) const {
  return {std::launder(reinterpret_cast<const event::PhaseTime*>(&at(index) + 1)), phases_};
}

void StepRecords::set_usage(const ProcessUsage& usage) {
  for (std::int64_t i = 0; i < count(); ++i) {
    kymo_step_record& record = at(i);
    record.time.cpu_ns = (usage.cpu_ns + count() / 2) / count();
    if (i == count() - 1) record.time.involuntary_switches = usage.involuntary_switches;
    if (shared_.journal) update_journal(i);
  }
}

void StepRecords::update_journal(std::int64_t index) const {
  kymo_step_record& record = at(index);
  record.head.checksum = kymo_block_checksum(&record.head, shared_.offset + offset_of(index), &record.time);
  auto& copy = *std::launder(reinterpret_cast<kymo_step_record*>(shared_.journal + offset_of(index)));
  copy.time = record.time;
  std::atomic_ref(copy.head.checksum).store(record.head.checksum, std::memory_order_release);
}

void StepRecords::keep() {
  if (shared_.journal) journal_->use_room(offset_of(count()), shared_.count);
}

}  // namespace kymo::worker
