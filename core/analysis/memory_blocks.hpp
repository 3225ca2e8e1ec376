// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/scope_finder.hpp"
#include "event/records.hpp"

namespace kymo::analysis {

/// What is known of a block beside its row: what its category is made of.
struct BlockLife {
  std::int32_t tag = -1;          ///< MemoryCategory of the last tag on it, or -1
  std::int32_t newest_step = -1;  ///< newest step that had begun when it was given back, or at the end of the pass
  bool given_back = false;        ///< an event says so; a block that another one took the place of was not
};

/// What of the events made no sense.
struct MemoryOddities {
  std::int64_t unknown_blocks = 0;      ///< given back, never handed out
  std::int64_t overlapping_blocks = 0;  ///< alive when their memory was handed out again
  std::int64_t unknown_segments = 0;    ///< given back to the driver, never taken
  std::int64_t overlapping_segments = 0;
  std::int64_t unknown_tags = 0;   ///< of no category
  std::int64_t homeless_tags = 0;  ///< where no block was alive
};

/// Pairs the events of one pass: each block and each segment with the event that ended it. Blocks are looked up by
/// their address, so a pass of n events takes O(n log n). A block of a backward node belongs to the forward scope, as a
/// kernel does. A block's allocated size is what the counter of its device grew by; its requested size if that makes no
/// sense.
class MemoryBlocks {
 public:
  MemoryBlocks(const event::Memory& memory, const event::Trace& trace);  // both must outlive it

  /// In order of birth; their category is left open. life()[i] belongs to allocations()[i].
  std::vector<event::Allocation>& allocations() { return allocations_; }
  const std::vector<BlockLife>& life() const { return life_; }
  std::vector<event::Segment>& segments() { return segments_; }
  const MemoryOddities& oddities() const { return oddities_; }

 private:
  struct Live {
    std::size_t index = 0;
    std::uint64_t end = 0;
    bool requested = false;  ///< given back, but a stream may still use it
  };
  using LiveBlocks = std::map<std::uint64_t, Live>;

  void take(std::int64_t sequence);
  void add_block(std::int64_t sequence);
  void request_free(std::int64_t sequence);
  void complete_free(std::int64_t sequence);
  void end_life(const Live& live, std::int64_t sequence, bool by_event);
  void clear_room(LiveBlocks& blocks, std::uint64_t begin, std::uint64_t end, std::int64_t sequence);
  void add_segment(std::int64_t sequence);
  /// Segments may be given back in part: what is left goes on as a segment of the same birth. Returns how many were
  /// touched.
  std::int64_t remove_segments(std::uint64_t begin, std::uint64_t end, std::int64_t sequence);
  void keep_rest(const event::Segment& whole, std::uint64_t begin, std::uint64_t end);
  void apply_tags_before(std::int64_t time_ns);
  void apply(const event::BlockTag& tag);
  std::int64_t allocated_size(const event::MemoryEvent& event) const;
  LiveBlocks& blocks_of(event::MemoryDevice device) { return live_[static_cast<std::size_t>(device)]; }

  const event::Memory& memory_;
  ScopeFinder places_;
  std::vector<event::Allocation> allocations_;
  std::vector<BlockLife> life_;
  std::vector<event::Segment> segments_;
  MemoryOddities oddities_;
  LiveBlocks live_[2];
  std::map<std::uint64_t, Live> live_segments_;
  const event::MemoryEvent* previous_[2] = {nullptr, nullptr};
  std::vector<std::size_t> tags_by_time_;
  std::size_t next_tag_ = 0;
  std::int32_t newest_step_ = -1;
};

}  // namespace kymo::analysis
