// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "export/export.hpp"
#include "export/output.hpp"
#include "export/pages.hpp"
#include "export/pickle.hpp"
#include "export/snapshot.hpp"

namespace kymo::exports {

using store::ResultsDatabase;

namespace {

constexpr std::int64_t kSmallSegmentBytes = 2 << 20;  // same limit as in PyTorch's caching allocator
constexpr std::int64_t kNanosecondsPerMicrosecond = 1'000;

/// One device of the snapshot.
class SnapshotDevice {
 public:
  SnapshotDevice(const SnapshotHistory& history, std::int64_t index, Pickle& pickle, FrameWriter& frames)
      : history_(history), index_(index), pickle_(pickle), frames_(frames) {}

  void write_segments() {
    for (const EndSegment& each : history_.end()) write_segment(each);
  }

  void write_trace(std::size_t first) {
    if (first < history_.entries().size()) write_unknown();
    for (std::size_t i = first; i < history_.entries().size(); ++i) write_entry(history_.entries()[i]);
  }

 private:
  void write_segment(const EndSegment& end) {
    const HistorySegment& segment = end.segment;
    std::int64_t allocated = 0;
    std::int64_t active = 0;
    std::int64_t requested = 0;
    for (std::size_t position = 0; position < end.blocks.size(); ++position) {
      const HistoryBlock& block = history_.blocks()[end.blocks[position]];
      const std::int64_t size = size_in(end, position);
      active += size;
      if (block.free) continue;
      allocated += size;
      requested += std::min(block.requested_bytes, size);
    }
    pickle_.item();
    pickle_.begin_dict();
    pickle_.entry("device", index_);
    pickle_.key("address");
    pickle_.address(segment.address);
    pickle_.entry("total_size", segment.bytes);
    pickle_.entry("allocated_size", allocated);
    pickle_.entry("active_size", active);
    pickle_.entry("requested_size", requested);
    pickle_.entry("stream", segment.stream);
    pickle_.entry("segment_type", segment.bytes <= kSmallSegmentBytes ? "small" : "large");
    pickle_.key("segment_pool_id");
    pickle_.pair(0, 0);
    pickle_.key("is_expandable");
    pickle_.boolean(history_.is_expandable());
    pickle_.key("frames");
    frames_.write_none();
    pickle_.key("blocks");
    pickle_.begin_list();
    write_blocks(end);
    pickle_.end_list();
    pickle_.end_dict();
  }

  /// The size of the block in its segment, limited by the start of the next block, because blocks tile a segment.
  std::int64_t size_in(const EndSegment& end, std::size_t position) const {
    const HistoryBlock& block = history_.blocks()[end.blocks[position]];
    const std::uint64_t next =
        position + 1 == end.blocks.size() ? end.segment.end() : history_.blocks()[end.blocks[position + 1]].address;
    return std::min(block.allocated_bytes, static_cast<std::int64_t>(next - block.address));
  }

  void write_blocks(const EndSegment& end) {
    std::uint64_t at = end.segment.address;
    for (std::size_t position = 0; position < end.blocks.size(); ++position) {
      const HistoryBlock& block = history_.blocks()[end.blocks[position]];
      if (block.address > at) write_gap(at, block.address);
      const std::int64_t size = size_in(end, position);
      begin_block(block.address, size, std::min(block.requested_bytes, size),
                  block.free ? "active_pending_free" : "active_allocated");
      frames_.write_alloc(block);
      pickle_.end_dict();
      at = block.address + static_cast<std::uint64_t>(size);
    }
    if (at < end.segment.end()) write_gap(at, end.segment.end());
  }

  void write_gap(std::uint64_t begin, std::uint64_t end) {
    begin_block(begin, static_cast<std::int64_t>(end - begin), 0, "inactive");
    frames_.write_none();
    pickle_.end_dict();
  }

  void begin_block(std::uint64_t address, std::int64_t size, std::int64_t requested, const char* state) {
    pickle_.item();
    pickle_.begin_dict();
    pickle_.key("address");
    pickle_.address(address);
    pickle_.entry("size", size);
    pickle_.entry("requested_size", requested);
    pickle_.entry("state", std::string_view(state));
    pickle_.key("frames");
  }

  /// Starts an entry, up to its frames.
  void begin_entry(const char* action, std::uint64_t address, std::int64_t size, std::int64_t stream,
                   std::int64_t time_ns) {
    pickle_.item();
    pickle_.begin_dict();
    pickle_.entry("action", std::string_view(action));
    pickle_.key("addr");
    pickle_.address(address);
    pickle_.entry("size", size);
    pickle_.entry("stream", stream);
    pickle_.entry("time_us", time_ns / kNanosecondsPerMicrosecond);
    pickle_.key("frames");
  }

  /// The viewer fails if no entry has the category `unknown`, so a dummy entry uses it.
  void write_unknown() {
    begin_entry("snapshot", 0, 0, 0, 0);
    frames_.write_none();
    pickle_.entry("category", std::string_view("unknown"));
    pickle_.end_dict();
  }

  void write_entry(const HistoryEntry& entry) {
    const bool is_segment =
        entry.action == HistoryAction::kSegmentAllocate || entry.action == HistoryAction::kSegmentFree;
    is_segment ? write_segment_entry(entry) : write_block_entry(entry);
    pickle_.end_dict();
  }

  void write_segment_entry(const HistoryEntry& entry) {
    const HistorySegment& segment = history_.segments()[entry.index];
    const bool takes = entry.action == HistoryAction::kSegmentAllocate;
    const bool maps = history_.is_expandable();
    const char* action = takes ? (maps ? "segment_map" : "segment_alloc") : (maps ? "segment_unmap" : "segment_free");
    begin_entry(action, segment.address, segment.bytes, segment.stream, takes ? segment.alloc_ns : segment.free_ns);
    frames_.write_none();
  }

  void write_block_entry(const HistoryEntry& entry) {
    const HistoryBlock& block = history_.blocks()[entry.index];
    if (entry.action == HistoryAction::kAllocate) {
      begin_entry("alloc", block.address, block.requested_bytes, block.stream, block.alloc_ns);
      frames_.write_alloc(block);
      pickle_.entry("category", block.category);
      return;
    }
    const bool completed = entry.action == HistoryAction::kFreeCompleted;
    begin_entry(completed ? "free_completed" : "free_requested", block.address, block.requested_bytes, block.stream,
                completed ? block.reusable_ns : block.free_ns);
    frames_.write_free(block);
  }

  const SnapshotHistory& history_;
  std::int64_t index_;
  Pickle& pickle_;
  FrameWriter& frames_;
};

/// A failed request is the last action of an allocator.
void write_oom_event(const ResultsDatabase& database, const Target& target, Pickle& pickle, FrameWriter& frames) {
  const auto rows = database
                        .query(
                            "SELECT coalesce(requested_bytes, 0), coalesce(free_bytes, 0) FROM main.out_of_memory "
                            "WHERE run_id = CAST(:run AS INTEGER) AND rank = CAST(:rank AS INTEGER) AND pass = :pass "
                            "AND location = 'device'",
                            target.parameters())
                        .rows;
  for (const auto& cells : rows) {
    const Row row(cells);
    pickle.item();
    pickle.begin_dict();
    pickle.entry("action", std::string_view("oom"));
    pickle.entry("size", row.integer(0));
    pickle.entry("device_free", row.integer(1));
    pickle.entry("stream", 0);
    pickle.key("frames");
    frames.write_none();
    pickle.end_dict();
  }
}

std::size_t first_entry(const SnapshotHistory& history, std::size_t max_entries) {
  const std::size_t there = history.entries().size();
  return there > max_entries ? there - max_entries : 0;
}

std::vector<std::string> notes_of(const SnapshotHistory& history, const std::string& device, std::size_t first) {
  std::vector<std::string> notes;
  if (first > 0) {
    notes.push_back("the last " + std::to_string(history.entries().size() - first) + " of " +
                    std::to_string(history.entries().size()) + " events of the " + device +
                    " allocator were written; the viewer hides additional events");
  }
  if (history.left_out() > 0) {
    notes.push_back(std::to_string(history.left_out()) + " blocks of the " + device +
                    " allocator were omitted, because their segment was freed before them");
  }
  return notes;
}

std::vector<std::string> write_snapshot(const ResultsDatabase& database, const Target& target, std::size_t max_entries,
                                        Output& output) {
  std::vector<std::string> notes;
  std::vector<SnapshotHistory> histories;
  std::vector<std::size_t> firsts;
  bool has_cuda = false;
  for (const std::string device : {"cuda", "cpu"}) {
    SnapshotHistory history(database, target, device);
    if (history.entries().empty()) continue;
    has_cuda |= device == "cuda";
    firsts.push_back(first_entry(history, max_entries));
    for (std::string& note : notes_of(history, device, firsts.back())) notes.push_back(std::move(note));
    histories.push_back(std::move(history));
  }
  Pickle pickle(output);
  FrameWriter frames(database, target, pickle);
  std::vector<SnapshotDevice> devices;
  for (std::size_t i = 0; i < histories.size(); ++i)
    devices.emplace_back(histories[i], static_cast<std::int64_t>(i), pickle, frames);
  pickle.begin_dict();
  pickle.key("segments");
  pickle.begin_list();
  for (SnapshotDevice& device : devices) device.write_segments();
  pickle.end_list();
  pickle.key("device_traces");
  pickle.begin_list();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    pickle.item();
    pickle.begin_list();
    devices[i].write_trace(firsts[i]);
    if (i == 0 && has_cuda) write_oom_event(database, target, pickle, frames);
    pickle.end_list();
  }
  pickle.end_list();
  pickle.key("allocator_settings");
  pickle.begin_dict();
  pickle.end_dict();
  pickle.key("external_annotations");
  pickle.begin_list();
  pickle.end_list();
  pickle.end_dict();
  pickle.end();
  return notes;
}

}  // namespace

std::vector<Written> export_memory_viz(const ResultsDatabase& database, const Choice& choice,
                                       const std::filesystem::path& file, std::size_t max_entries) {
  const std::vector<Target> targets = find_targets(database, choice, {{"memory"}, {"allocation"}, "no memory blocks"});
  const std::vector<std::filesystem::path> files = files_for(targets, file, "memory", ".pickle");
  std::vector<Written> written;
  std::vector<std::unique_ptr<Output>> outputs;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    outputs.push_back(std::make_unique<Output>(files[i], Output::Kind::kBinary));
    written.push_back({files[i], write_snapshot(database, targets[i], max_entries, *outputs.back())});
  }
  for (const auto& output : outputs) output->finish();
  return written;
}

}  // namespace kymo::exports
