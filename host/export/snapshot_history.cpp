// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "export/pages.hpp"
#include "export/snapshot.hpp"

namespace kymo::exports {

using store::ResultsDatabase;

namespace {

std::uint64_t end_of(const HistoryBlock& block) {
  return block.address + static_cast<std::uint64_t>(std::max<std::int64_t>(block.requested_bytes, 1));
}

/// The live segment that contains the address.
std::map<std::uint64_t, std::uint64_t>::const_iterator holding(const std::map<std::uint64_t, std::uint64_t>& ends,
                                                               std::uint64_t address) {
  auto found = ends.upper_bound(address);
  if (found == ends.begin()) return ends.end();
  --found;
  return found->second > address ? found : ends.end();
}

}  // namespace

SnapshotHistory::SnapshotHistory(const ResultsDatabase& database, const Target& target, const std::string& device) {
  read_blocks(database, target, device);
  if (device == "cuda") read_segments(database, target);
  order_entries();
  check();
  order_entries();
}

void SnapshotHistory::read_blocks(const ResultsDatabase& database, const Target& target, const std::string& device) {
  Pages pages(database, target, "allocation",
              "device, address, requested_bytes, allocated_bytes, sequence, alloc_ns, free_sequence, "
              "reusable_sequence, free_ns, reusable_ns, stream, op_id, scope_id, phase_id, free_phase_id, stack, "
              "category");
  while (const auto row = pages.next()) {
    if (row->text(0) != device) continue;
    HistoryBlock block;
    block.address = static_cast<std::uint64_t>(row->integer(1));
    block.requested_bytes = row->integer(2);
    block.allocated_bytes =
        std::max<std::int64_t>({row->integer(3), block.requested_bytes, 1});  // zero-size blocks get one byte
    block.alloc_event = row->integer(4);
    block.alloc_ns = row->integer(5);
    block.free = row->optional(6);
    block.reusable = row->optional(7);
    block.free_ns = row->integer(8);
    block.reusable_ns = row->integer(9);
    block.stream = row->integer(10);
    block.op = row->optional(11).value_or(-1);
    block.scope = row->optional(12).value_or(-1);
    block.phase = row->optional(13).value_or(-1);
    block.free_phase = row->optional(14).value_or(-1);
    block.stack = row->optional(15).value_or(-1);
    block.category = row->text(16);
    blocks_.push_back(std::move(block));
  }
}

void SnapshotHistory::read_segments(const ResultsDatabase& database, const Target& target) {
  // Several rows may have the same sequence number if parts of a segment were freed, so it is not a key by itself.
  const auto rows =
      database
          .query(
              "SELECT address, bytes, stream, sequence, alloc_ns, free_sequence, free_ns FROM main.segment WHERE "
              "run_id = CAST(:run AS INTEGER) AND rank = CAST(:rank AS INTEGER) AND pass = :pass ORDER BY sequence, "
              "address",
              target.parameters())
          .rows;
  for (const auto& cells : rows) {
    const Row row(cells);
    segments_.push_back({static_cast<std::uint64_t>(row.integer(0)), row.integer(1), row.integer(2), row.integer(3),
                         row.integer(4), row.optional(5), row.integer(6)});
  }
}

void SnapshotHistory::order_entries() {
  entries_.clear();
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    const HistoryBlock& block = blocks_[i];
    if (block.left_out) continue;
    entries_.push_back({block.alloc_event, HistoryAction::kAllocate, i});
    if (block.free) entries_.push_back({*block.free, HistoryAction::kFreeRequested, i});
    if (block.reusable) entries_.push_back({*block.reusable, HistoryAction::kFreeCompleted, i});
  }
  for (std::uint32_t i = 0; i < segments_.size(); ++i) {
    entries_.push_back({segments_[i].alloc_event, HistoryAction::kSegmentAllocate, i});
    if (segments_[i].free) entries_.push_back({*segments_[i].free, HistoryAction::kSegmentFree, i});
  }
  std::ranges::sort(entries_, {},
                    [](const HistoryEntry& each) { return std::tie(each.moment, each.action, each.index); });
}

void SnapshotHistory::release_range(std::uint32_t block) {
  const HistoryBlock& lone = blocks_[block];
  segments_.push_back({lone.address, lone.allocated_bytes, lone.stream, lone.alloc_event, lone.alloc_ns, lone.reusable,
                       lone.reusable_ns});
}

void SnapshotHistory::check() {
  std::map<std::uint64_t, std::uint64_t> segment_ends;  // live segments by address
  std::map<std::uint64_t, std::uint32_t> live;
  for (const HistoryEntry& entry : entries_) {
    switch (entry.action) {
      case HistoryAction::kSegmentAllocate:
        segment_ends[segments_[entry.index].address] = segments_[entry.index].end();
        break;
      case HistoryAction::kSegmentFree: {
        const HistorySegment& segment = segments_[entry.index];
        segment_ends.erase(segment.address);
        for (auto inside = live.lower_bound(segment.address); inside != live.end() && inside->first < segment.end();) {
          blocks_[inside->second].left_out = true;
          ++left_out_;
          inside = live.erase(inside);
        }
        break;
      }
      case HistoryAction::kAllocate: {
        const HistoryBlock& block = blocks_[entry.index];
        const auto home = holding(segment_ends, block.address);
        if (home == segment_ends.end()) {
          release_range(entry.index);
          break;
        }
        live[block.address] = entry.index;
        if (home->second < end_of(block) && std::next(home) != segment_ends.end() &&
            std::next(home)->first == home->second)
          is_expandable_ = true;
        break;
      }
      case HistoryAction::kFreeCompleted: {
        const auto found = live.find(blocks_[entry.index].address);
        if (found != live.end() && found->second == entry.index) live.erase(found);
        break;
      }
      case HistoryAction::kFreeRequested:
        break;
    }
  }
}

std::vector<EndSegment> SnapshotHistory::end() const {
  std::vector<EndSegment> ends;
  for (const HistorySegment& segment : segments_) {
    if (!segment.free) ends.push_back({segment, {}});
  }
  std::ranges::sort(ends, {}, [](const EndSegment& each) { return each.segment.address; });
  if (is_expandable_) {
    std::vector<EndSegment> merged;
    for (const EndSegment& each : ends) {
      if (!merged.empty() && merged.back().segment.end() == each.segment.address &&
          merged.back().segment.stream == each.segment.stream) {
        merged.back().segment.bytes += each.segment.bytes;
      } else {
        merged.push_back(each);
      }
    }
    ends = std::move(merged);
  }
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].reusable || blocks_[i].left_out) continue;
    auto home = std::ranges::upper_bound(ends, blocks_[i].address, {},
                                         [](const EndSegment& each) { return each.segment.address; });
    if (home != ends.begin() && std::prev(home)->segment.end() > blocks_[i].address)
      std::prev(home)->blocks.push_back(i);
  }
  for (EndSegment& each : ends) {
    std::ranges::sort(each.blocks, {}, [&](std::uint32_t block) { return blocks_[block].address; });
  }
  return ends;
}

}  // namespace kymo::exports
