// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/scope_finder.hpp"
#include "event/records.hpp"

namespace kymo::analysis {

/// Properties of a block that determine its category.
struct BlockLifetime {
  std::int32_t tag = -1;          ///< MemoryCategory of the last tag on it, or -1
  std::int32_t newest_step = -1;  ///< newest step that had begun when it was freed, or at the end of the pass
  bool returned_to_allocator =
      false;  ///< freed by an event; false for a block whose memory was allocated again without one
};

/// Counts of inconsistent events.
struct MemoryAnomalies {
  std::int64_t unknown_blocks = 0;      ///< freed but never allocated
  std::int64_t overlapping_blocks = 0;  ///< live when their memory was allocated again
  std::int64_t unknown_segments = 0;    ///< returned to the driver but never allocated
  std::int64_t overlapping_segments = 0;
  std::int64_t unknown_tags = 0;    ///< with an unknown category
  std::int64_t unmatched_tags = 0;  ///< at an address without a live block
};

/// Matches each block and each segment of a pass with the event that ended it. Blocks are looked up by address, so that
/// n events take O(n log n) time. A block of a backward node belongs to the forward scope, like a kernel. The allocated
/// size of a block is the increase of its device's counter, or its requested size if that increase is implausible.
class MemoryBlocks {
 public:
  MemoryBlocks(const event::Memory& memory, event::Trace& trace);  // both must outlive this object

  /// In allocation order, without categories. lifetimes()[i] belongs to allocations()[i].
  std::vector<event::Allocation>& allocations() { return allocations_; }
  const std::vector<BlockLifetime>& lifetimes() const { return lifetimes_; }
  std::vector<event::Segment>& segments() { return segments_; }
  const MemoryAnomalies& anomalies() const { return anomalies_; }

 private:
  struct Live {
    std::size_t index = 0;
    std::uint64_t end = 0;
    bool requested = false;  ///< freed, but a stream may still use it
  };
  using LiveBlocks = std::map<std::uint64_t, Live>;

  void take(std::int64_t sequence);
  void add_block(std::int64_t sequence);
  void request_free(std::int64_t sequence);
  void complete_free(std::int64_t sequence);
  void end_lifetime(const Live& live, std::int64_t sequence, bool by_event);
  void free_range(LiveBlocks& blocks, std::uint64_t begin, std::uint64_t end, std::int64_t sequence);
  void add_segment(std::int64_t sequence);
  /// Removes address ranges from segments. If part of a segment is removed, the rest remains a segment with the same
  /// allocation. Returns the number of affected segments.
  std::int64_t remove_segments(std::uint64_t begin, std::uint64_t end, std::int64_t sequence);
  void keep_rest(const event::Segment& whole, std::uint64_t begin, std::uint64_t end);
  void apply_tags_before(std::int64_t time_ns);
  void apply(const event::BlockTag& tag);
  std::int64_t allocated_size(const event::MemoryEvent& event) const;
  LiveBlocks& blocks_of(event::MemoryDevice device) { return live_[static_cast<std::size_t>(device)]; }

  const event::Memory& memory_;
  ScopeFinder scope_finder_;
  std::vector<event::Allocation> allocations_;
  std::vector<BlockLifetime> lifetimes_;
  std::vector<event::Segment> segments_;
  MemoryAnomalies anomalies_;
  LiveBlocks live_[2];
  std::map<std::uint64_t, Live> live_segments_;
  const event::MemoryEvent* previous_[2] = {nullptr, nullptr};
  std::vector<std::size_t> tags_by_time_;
  std::size_t next_tag_ = 0;
  std::int32_t newest_step_ = -1;
};

}  // namespace kymo::analysis
