// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "export/pages.hpp"
#include "export/pickle.hpp"
#include "export/target.hpp"
#include "store/results.hpp"

/// The parts of a PyTorch memory snapshot: the history of an allocator and the frames of its blocks.
namespace kymo::exports {

/// A row of table allocation. Texts and stacks are ids, -1 for none.
struct HistoryBlock {
  std::uint64_t address = 0;
  std::int64_t requested_bytes = 0, allocated_bytes = 0;
  std::int64_t alloc_event = 0, alloc_ns = 0;  ///< `alloc_event` is a position in the sequence of memory events
  std::optional<std::int64_t> free, reusable;
  std::int64_t free_ns = 0, reusable_ns = 0;
  std::int64_t stream = 0;
  std::int64_t op = -1, scope = -1, phase = -1, free_phase = -1, stack = -1;
  std::string category;
  bool left_out = false;
};

/// A row of table segment, or the memory of a block that is in no segment.
struct HistorySegment {
  std::uint64_t address = 0;
  std::int64_t bytes = 0, stream = 0;
  std::int64_t alloc_event = 0, alloc_ns = 0;
  std::optional<std::int64_t> free;
  std::int64_t free_ns = 0;

  std::uint64_t end() const { return address + static_cast<std::uint64_t>(bytes); }
};

/// In the order in which simultaneous actions must be replayed.
enum class HistoryAction : std::uint8_t { kFreeRequested, kFreeCompleted, kSegmentFree, kSegmentAllocate, kAllocate };

struct HistoryEntry {
  std::int64_t moment = 0;
  HistoryAction action = HistoryAction::kAllocate;
  std::uint32_t index = 0;  ///< index of a block or a segment
};

/// A segment at the end of the pass and its blocks, sorted by address.
struct EndSegment {
  HistorySegment segment;
  std::vector<std::uint32_t> blocks;
};

/// The actions of an allocator during a pass, in order, reconstructed from its blocks and segments. Replaying the
/// entries results in end().
class SnapshotHistory {
 public:
  /// `device` is cuda or cpu. Host allocators do not report segments: each of their blocks is treated as a segment, as
  /// is a block outside all known segments.
  SnapshotHistory(const store::ResultsDatabase& database, const Target& target, const std::string& device);

  const std::vector<HistoryBlock>& blocks() const { return blocks_; }
  const std::vector<HistorySegment>& segments() const { return segments_; }
  const std::vector<HistoryEntry>& entries() const { return entries_; }
  /// True if blocks span segments. The segments are then pieces of an expandable address range that are mapped
  /// individually.
  bool is_expandable() const { return is_expandable_; }
  /// Number of blocks whose segment was freed while they were live; they cannot be replayed.
  std::int64_t left_out() const { return left_out_; }
  std::vector<EndSegment> end() const;

 private:
  void read_blocks(const store::ResultsDatabase& database, const Target& target, const std::string& device);
  void read_segments(const store::ResultsDatabase& database, const Target& target);
  void order_entries();
  /// Replays the history to find blocks without a segment, across segments, and in segments freed before them.
  void check();
  void release_range(std::uint32_t block);

  std::vector<HistoryBlock> blocks_;
  std::vector<HistorySegment> segments_;
  std::vector<HistoryEntry> entries_;
  bool is_expandable_ = false;
  std::int64_t left_out_ = 0;
};

/// Writes the frames that the viewer shows for a block. Frame lists repeat, so each is written once and memoized.
class FrameWriter {
 public:
  FrameWriter(const store::ResultsDatabase& database, const Target& target, Pickle& pickle);

  /// Where the block was allocated: operator, scope and phase, then the native stack.
  void write_alloc(const HistoryBlock& block);
  /// The phase in which the block was freed. Not empty, because the viewer would treat the block as older than the
  /// trace.
  void write_free(const HistoryBlock& block);
  void write_none();

 private:
  /// Operator, scope, phase, stack, and the function above that writes the list.
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, int>;

  /// Refers to the list if it has already been written; otherwise the caller must write and close it.
  bool recalls(const Key& key);
  void close();
  void frame(const std::string& file, std::int64_t line, const std::string& name);
  void write_frame(const char* kind, std::int64_t id);
  void write_stack(std::int64_t stack);

  const store::ResultsDatabase& database_;
  const Target& target_;
  Pickle& pickle_;
  TextsById texts_;
  std::map<Key, std::uint32_t> lists_;
  Key open_;
};

}  // namespace kymo::exports
