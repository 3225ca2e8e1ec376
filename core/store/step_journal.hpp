// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "event/records.hpp"
#include "event/step_time.hpp"
#include "store/journal_format.hpp"
#include "store/mapped_stream.hpp"

/// What an observed program has measured so far. The records of a pass are in the memory of the program until the pass
/// is complete, so that they are lost if the program is killed before. The journal is a file next to the rank file, to
/// which each complete step is added, and another one for its events; if the rank file is missing, it is made from them
/// (journal_recovery.hpp).
namespace kymo::store {

/// Properties of a pass that are known when it begins.
struct JournalHeader {
  std::int64_t warmup = 0;            ///< number of warm-up steps
  std::int64_t run_start_ns = 0;      ///< origin of the times of samples, on the host clock
  std::optional<std::int64_t> steps;  ///< number of steps to measure; empty: those until the program ends
  event::Device device;
};

/// Writes a journal. The files are memory-mapped, so that adding a step needs no system call, and their content
/// outlives the process. If the program truncates the journal, a warning says so on stderr, and nothing more is added.
class StepJournal {
 public:
  /// Creates the file. Throws Error.
  StepJournal(const std::filesystem::path& rank_file, const JournalHeader& header);
  StepJournal(const StepJournal&) = delete;
  StepJournal& operator=(const StepJournal&) = delete;

  /// Names the phases of steps and events. Call it once, before they are added.
  void set_phases(const std::vector<std::string>& names);
  /// Adds the events of a complete step, before its times. Always pass the same object. Events beyond 1 GiB are left
  /// out.
  void add(const event::NewEvents& events);
  /// Adds the compilations since the last step. Does nothing once the disk is full.
  void add(std::span<const event::Compilation> compilations);
  /// Adds the metrics since the last step. Does nothing once the disk is full.
  void add(std::span<const event::Metric> metrics);
  /// Adds a complete step: its times, also by phase. Does nothing once the disk is full.
  void add(const event::StepTime& step, std::span<const event::PhaseTime> phases);
  /// Room for one or more blocks of this size with their heads, all of it 0, which the caller writes itself; the kind
  /// of each last. Empty once the disk is full or the file was truncated.
  std::span<std::byte> room_for(std::size_t block_bytes);
  /// The first `bytes` of that room are complete blocks. Call it before anything else is added.
  void use_room(std::size_t bytes, std::uint32_t blocks) noexcept;
  /// Where the next block begins in the file.
  std::uint64_t offset() const noexcept { return (chunks_ - 1) * kJournalChunkBytes + used_; }
  /// Number of the next addition.
  std::uint32_t addition() const noexcept { return additions_ + 1; }
  /// Removes the file, because the rank file contains everything.
  void remove() noexcept;

 private:
  /// The next part of the file, mapped; false if it cannot be allocated.
  bool open_chunk();
  /// Nothing more is added to a file that the program has truncated.
  void close_truncated();
  /// Whether blocks of so many bytes fit, in the next part of the file if not in this one.
  bool has_space(std::size_t bytes);
  void append(BlockKind kind, std::span<const std::byte> content, std::span<const std::byte> more = {});
  /// Adds a block to event_blocks_. Returns its content, to be filled.
  std::byte* event_block(BlockKind kind, std::size_t bytes);
  void complete_event_blocks();
  template <class Events>
  void add_copies(BlockKind kind, const Events& events);
  template <class Event>
  void add_events(BlockKind kind, const std::vector<Event>& events);
  void add_names(const event::NewEvents& events);

  std::filesystem::path file_;
  FileMapping chunk_;
  std::size_t chunks_ = 0;
  std::size_t used_ = 0;  // of the chunk
  std::uint32_t additions_ = 0;
  // Number of the names that were added:
  std::size_t texts_ = 0;
  std::size_t shapes_ = 0;
  std::size_t frames_ = 0;
  std::size_t stacks_ = 0;
  std::size_t event_bytes_ = 0;
  std::uint32_t event_additions_ = 0;
  MappedStream events_;
  std::vector<std::byte> event_blocks_;  // of the step; kept for its memory
};

/// Removes a journal and its events.
void remove_journal(const std::filesystem::path& file) noexcept;

}  // namespace kymo::store
