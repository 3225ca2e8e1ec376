// SPDX-License-Identifier: Apache-2.0
#include "store/step_journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "measure/json_field.hpp"
#include "store/journal_blocks.hpp"
#include "store/journal_format.hpp"

namespace kymo::store {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxEventBytes = std::size_t{1} << 30;

/// The kind is written last, so that a block with a kind is complete.
void complete(kymo_block_head& head, BlockKind kind, std::uint64_t offset, const std::byte* content) noexcept {
  kymo_block_head complete = head;
  complete.kind = static_cast<std::uint32_t>(kind);
  head.checksum = kymo_block_checksum(&complete, offset, content);
  std::atomic_ref(head.kind).store(complete.kind, std::memory_order_release);
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string header_text(const JournalHeader& header) {
  Json json{{"warmup", header.warmup}, {"run_start_ns", header.run_start_ns}};
  if (header.steps) json["steps"] = *header.steps;
  json["device"] = header.device;
  return dump_json(json);
}

}  // namespace

StepJournal::StepJournal(const fs::path& rank_file, const JournalHeader& header)
    : file_(rank_file.string() + kJournalSuffix), events_(file_.string() + kEventSuffix) {
  if (!open_chunk())
    throw Error("cannot create " + quote(file_.string()) + ", the journal of complete steps: " + std::strerror(errno));
  append(BlockKind::kHeader, bytes_of(header_text(header)));
}

bool StepJournal::open_chunk() {
  chunk_ = {};
  const int create = chunks_ == 0 ? O_CREAT | O_TRUNC : 0;
  const int fd = open(file_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | create, 0600);
  if (fd < 0) return false;
  struct stat found{};
  const bool is_whole = fstat(fd, &found) == 0 && found.st_size == static_cast<off_t>(chunks_ * kJournalChunkBytes);
  if (is_whole)
    chunk_ = FileMapping(fd, chunks_ * kJournalChunkBytes, kJournalChunkBytes);
  else
    close_truncated();
  close(fd);
  if (!chunk_) return false;
  ++chunks_;
  used_ = 0;
  return true;
}

void StepJournal::close_truncated() {
  chunk_ = {};
  log::warning("the journal of steps " + quote(file_.string()) +
               " was truncated: if the program is killed, its steps are lost");
}

bool StepJournal::has_space(std::size_t bytes) {
  if (chunk_.is_lost()) close_truncated();
  return chunk_ && bytes <= kJournalChunkBytes && (bytes <= kJournalChunkBytes - used_ || open_chunk());
}

void StepJournal::append(BlockKind kind, std::span<const std::byte> content, std::span<const std::byte> more) {
  const std::size_t size = content.size() + more.size();
  const std::size_t needed = kBlockHeadBytes + padded(size);
  if (!has_space(needed)) return;
  auto* const head = new (chunk_.data() + used_) kymo_block_head{};
  head->bytes = static_cast<std::uint32_t>(size);
  head->addition = ++additions_;
  std::byte* const begin = chunk_.data() + used_ + kBlockHeadBytes;
  std::ranges::copy(more, std::ranges::copy(content, begin).out);
  complete(*head, kind, offset(), begin);
  used_ += needed;
}

void StepJournal::use_room(std::size_t bytes, std::uint32_t blocks) noexcept {
  used_ += bytes;
  additions_ += blocks;
}

std::span<std::byte> StepJournal::room_for(std::size_t block_bytes) {
  if (!has_space(block_bytes)) return {};
  return {chunk_.data() + used_, kJournalChunkBytes - used_};
}

void StepJournal::add(std::span<const event::Metric> metrics) {
  for (const event::Metric& metric : metrics) append(BlockKind::kMetric, bytes_of(metric_text(metric)));
}

void StepJournal::add(const event::StepTime& step, std::span<const event::PhaseTime> phases) {
  static_assert(std::is_trivially_copyable_v<event::StepTime> && std::is_trivially_copyable_v<event::PhaseTime>);
  append(BlockKind::kStep, std::as_bytes(std::span(&step, 1)), std::as_bytes(phases));
}

void StepJournal::add(std::span<const event::Compilation> compilations) {
  for (const event::Compilation& compilation : compilations)
    append(BlockKind::kCompilation, bytes_of(compilation_text(compilation)));
}

void StepJournal::set_phases(const std::vector<std::string>& names) {
  for (const std::string& name : names) append(BlockKind::kPhase, bytes_of(name));
}

std::byte* StepJournal::event_block(BlockKind kind, std::size_t bytes) {
  const kymo_block_head head{static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(bytes), 0, 0};
  const std::size_t begin = event_blocks_.size();
  event_blocks_.resize(begin + sizeof(head) + padded(bytes));
  std::memcpy(event_blocks_.data() + begin, &head, sizeof(head));
  return event_blocks_.data() + begin + sizeof(head);
}

void StepJournal::complete_event_blocks() {
  ++event_additions_;
  for (std::size_t at = 0; at < event_blocks_.size();) {
    kymo_block_head head;
    std::byte* const block = event_blocks_.data() + at;
    std::memcpy(&head, block, sizeof(head));
    head.addition = event_additions_;
    head.checksum = kymo_block_checksum(&head, event_bytes_ + at, block + sizeof(head));
    std::memcpy(block, &head, sizeof(head));
    at += sizeof(head) + padded(head.bytes);
  }
}

template <class Events>
void StepJournal::add_copies(BlockKind kind, const Events& events) {
  static_assert(std::is_trivially_copyable_v<typename Events::value_type>);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(events));
  if (!bytes.empty()) std::ranges::copy(bytes, event_block(kind, bytes.size()));
}

template <class Event>
void StepJournal::add_events(BlockKind kind, const std::vector<Event>& events) {
  using Block = BlockOf<Event>;
  static_assert(std::is_trivially_copyable_v<Block>);
  if constexpr (std::is_same_v<Block, Event>) return add_copies(kind, events);
  if (events.empty()) return;
  std::byte* to = event_block(kind, events.size() * sizeof(Block));
  for (const Event& event : events) {
    const Block block = block_of(event);
    std::memcpy(to, &block, sizeof(block));
    to += sizeof(block);
  }
}

void StepJournal::add_names(const event::NewEvents& events) {
  while (texts_ < events.texts.size())
    add_copies(BlockKind::kText, events.texts.text(static_cast<event::TextId>(++texts_)));
  add_copies(BlockKind::kShapes,
             std::span<const event::LaunchShape>(events.shapes).subspan(std::exchange(shapes_, events.shapes.size())));
  while (frames_ < events.frames.size()) add_copies(BlockKind::kFrame, frame_text(events.frames[frames_++]));
  while (stacks_ < events.stacks.size()) add_copies(BlockKind::kStack, events.stacks[stacks_++]);
}

void StepJournal::add(const event::NewEvents& events) {
  if (event_bytes_ > kMaxEventBytes) return;
  event_blocks_.clear();
  add_names(events);
  auto kind = static_cast<std::uint32_t>(BlockKind::kFirstStream);
  event::for_each_stream([&](auto stream) { add_events(static_cast<BlockKind>(kind++), stream.of(events)); });
  if (event_blocks_.empty()) return;
  complete_event_blocks();
  event_bytes_ += event_blocks_.size();
  if (!events_.append(event_blocks_))
    event_bytes_ = kMaxEventBytes + 1;  // what follows a part of a block cannot be read
  if (event_bytes_ > kMaxEventBytes) append(BlockKind::kEventsLeftOut, {});
}

void StepJournal::remove() noexcept { remove_journal(file_); }

void remove_journal(const fs::path& file) noexcept {
  std::error_code ignored;
  fs::remove(file, ignored);
  fs::remove(file.string() + kEventSuffix, ignored);
}

}  // namespace kymo::store
