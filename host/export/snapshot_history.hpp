// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "export/target.hpp"
#include "store/results.hpp"

namespace kymo::exports {

/// A row of allocation. Texts and stacks by number, -1 for none.
struct HistoryBlock {
  std::uint64_t address = 0;
  std::int64_t requested_bytes = 0, allocated_bytes = 0;
  std::int64_t birth = 0, alloc_ns = 0;  ///< a birth is a place among the memory events
  std::optional<std::int64_t> free, reusable;
  std::int64_t free_ns = 0, reusable_ns = 0;
  std::int64_t stream = 0;
  std::int64_t op = -1, scope = -1, phase = -1, free_phase = -1, stack = -1;
  std::string category;
  bool left_out = false;
};

/// A row of segment, or the room of a block that lies in none.
struct HistorySegment {
  std::uint64_t address = 0;
  std::int64_t bytes = 0, stream = 0;
  std::int64_t birth = 0, alloc_ns = 0;
  std::optional<std::int64_t> free;
  std::int64_t free_ns = 0;

  std::uint64_t end() const { return address + static_cast<std::uint64_t>(bytes); }
};

/// In the order in which actions of one moment must be replayed.
enum class HistoryAction : std::uint8_t { kFreeRequested, kFreeCompleted, kSegmentFree, kSegmentAllocate, kAllocate };

struct HistoryEntry {
  std::int64_t moment = 0;
  HistoryAction action = HistoryAction::kAllocate;
  std::uint32_t index = 0;  ///< of a block or a segment
};

/// A segment at the end of the pass with the blocks in it, in the order of their addresses.
struct EndSegment {
  HistorySegment segment;
  std::vector<std::uint32_t> blocks;
};

/// What an allocator did during a pass, in its order, rebuilt from the rows of its blocks and segments. Replaying the
/// entries leads to end().
class SnapshotHistory {
 public:
  /// `device` is cuda or cpu. A host's allocator tells no segments: there each block is one, as is a block that lies in
  /// no known segment.
  SnapshotHistory(const store::ResultsDatabase& database, const Target& target, const std::string& device);

  const std::vector<HistoryBlock>& blocks() const { return blocks_; }
  const std::vector<HistorySegment>& segments() const { return segments_; }
  const std::vector<HistoryEntry>& entries() const { return entries_; }
  /// Blocks lie across segments: these are pieces of a growing address range, mapped one by one.
  bool is_expandable() const { return is_expandable_; }
  /// Blocks whose segment was given back while they were alive, which cannot be replayed.
  std::int64_t left_out() const { return left_out_; }
  std::vector<EndSegment> end() const;

 private:
  void read_blocks(const store::ResultsDatabase& database, const Target& target, const std::string& device);
  void read_segments(const store::ResultsDatabase& database, const Target& target);
  void order_entries();
  /// Goes through the history: finds blocks without a segment, across segments, and in segments that went before them.
  void check();
  void give_room(std::uint32_t block);

  std::vector<HistoryBlock> blocks_;
  std::vector<HistorySegment> segments_;
  std::vector<HistoryEntry> entries_;
  bool is_expandable_ = false;
  std::int64_t left_out_ = 0;
};

}  // namespace kymo::exports
