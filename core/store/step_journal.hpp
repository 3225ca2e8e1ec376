// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "event/new_events.hpp"
#include "event/records.hpp"
#include "event/step_time.hpp"
#include "measure/plan.hpp"

/// What an observed program has measured so far. The records of a pass are in the memory of the program until the pass
/// is complete, so that they are lost if the program is killed before. The journal is a file next to the rank file, to
/// which each complete step is added, and another one for its operators, scopes and collective calls; if the rank file
/// is missing, it is made from them.
namespace kymo::store {

/// Properties of a pass that are known when it begins.
struct JournalHeader {
  std::int64_t warmup = 0;            ///< number of warm-up steps
  std::int64_t run_start_ns = 0;      ///< origin of the times of samples, on the host clock
  std::optional<std::int64_t> steps;  ///< number of steps to measure; empty: those until the program ends
  event::Device device;
};

/// Writes a journal. The file is memory-mapped, so that adding a step needs no system call, and its content outlives
/// the process. No descriptor stays open that the program could close.
class StepJournal {
 public:
  /// Creates the file. Throws Error.
  StepJournal(const std::filesystem::path& rank_file, const JournalHeader& header);
  ~StepJournal();
  StepJournal(const StepJournal&) = delete;
  StepJournal& operator=(const StepJournal&) = delete;

  /// Names the phases of steps and events. Call it once, before they are added.
  void set_phases(const std::vector<std::string>& names);
  /// Adds the events of a complete step, before its times. Always pass the same object. Events beyond 1 GiB are left
  /// out.
  void add(const event::NewEvents& events);
  /// Adds the compilations since the last step. Does nothing once the disk is full.
  void add(std::span<const event::Compilation> compilations);
  /// Adds a complete step: its times, also by phase, and the metrics since the last one. Does nothing once the disk is
  /// full.
  void add(const event::StepTime& step, std::span<const event::PhaseTime> phases,
           std::span<const event::Metric> metrics);
  /// Removes the file, because the rank file contains everything.
  void remove() noexcept;

 private:
  enum class Kind : std::uint32_t;
  friend struct JournalReader;

  /// The next part of the file, mapped; false if it cannot be allocated.
  bool open_chunk() noexcept;
  void append(Kind kind, std::span<const std::byte> content, std::span<const std::byte> more = {}) noexcept;
  /// Adds a block to event_blocks_. Returns its content, to be filled.
  std::byte* event_block(Kind kind, std::size_t bytes);
  template <class Block, class Events>
  void add_blocks(Kind kind, const Events& events);
  bool write_event_blocks() noexcept;

  std::filesystem::path file_;
  std::byte* chunk_ = nullptr;
  std::size_t chunks_ = 0;
  std::size_t used_ = 0;   // of the chunk
  std::size_t texts_ = 0;  // of the events that were added
  std::size_t event_bytes_ = 0;
  std::vector<std::byte> event_blocks_;  // of the step; kept for its memory
};

/// Writes the rank file from the journal of a process that ended before it could, if there is a journal: its samples,
/// metrics, compilations, operators, scopes and collective calls, and the warning `fewer steps`. Removes the journal.
/// Returns the number of measured steps, or nullopt if there was nothing to do. Throws Error if the rank file cannot be
/// written.
std::optional<std::int64_t> recover_from_journal(const std::filesystem::path& rank_file, std::int64_t run_id, int rank,
                                                 measure::Pass pass);

/// The same for each journal in a folder of rank files. A journal that cannot be read is ignored.
void recover_journals(const std::filesystem::path& folder);

/// The detail of warning `fewer steps`.
std::string fewer_steps_text(std::int64_t measured, std::int64_t wanted);

}  // namespace kymo::store
