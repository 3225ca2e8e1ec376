// SPDX-License-Identifier: Apache-2.0
#include "store/journal_recovery.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "analysis/derive.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "measure/json_field.hpp"
#include "store/journal_blocks.hpp"
#include "store/journal_format.hpp"
#include "store/rank_file.hpp"
#include "store/rank_import.hpp"
#include "store/step_journal.hpp"

namespace kymo::store {
namespace fs = std::filesystem;
namespace {

constexpr std::int32_t kMaxEvents = 1 << 27;  // the memory of a pass has room for fewer
constexpr std::int64_t kNone = -1;

struct JournalReader {
  std::string content;
  JournalHeader header;
  event::PassRecord record;
  std::vector<event::TextId> texts;  // of the record, by id - 1
  bool events_left_out = false;

  /// Throws Error or Json::exception.
  explicit JournalReader(const fs::path& file) : content(read_file(file)) {
    for (std::size_t chunk = 0; chunk + kJournalChunkBytes <= content.size(); chunk += kJournalChunkBytes)
      read_blocks(std::string_view(content).substr(chunk, kJournalChunkBytes), true);
    const fs::path events = file.string() + kEventSuffix;
    if (!fs::exists(events)) return;
    content = read_file(events);
    read_blocks(content, false);
    complete_events();
  }

  /// `whole`: no block may be cut off.
  void read_blocks(std::string_view blocks, bool whole) {
    while (blocks.size() >= kBlockHeadBytes) {
      std::uint32_t kind = 0, bytes = 0;
      std::memcpy(&kind, blocks.data(), sizeof(kind));
      std::memcpy(&bytes, blocks.data() + sizeof(kind), sizeof(bytes));
      if (kind == static_cast<std::uint32_t>(BlockKind::kEnd)) return;
      if (padded(bytes) > blocks.size() - kBlockHeadBytes) {
        if (!whole) return;
        throw Error("a block exceeds its chunk");
      }
      read_block(static_cast<BlockKind>(kind), blocks.substr(kBlockHeadBytes, bytes));
      blocks.remove_prefix(kBlockHeadBytes + padded(bytes));
    }
  }

  void read_block(BlockKind kind, std::string_view bytes) {
    switch (kind) {
      case BlockKind::kHeader:
        return read_header(bytes);
      case BlockKind::kStep:
        return read_step(bytes);
      case BlockKind::kMetric:
        record.metrics.push_back(metric_from(bytes));
        return;
      case BlockKind::kPhase:
        record.trace.phases.emplace_back(bytes);
        return;
      case BlockKind::kCompilation:
        record.compilations.push_back(compilation_from(bytes));
        return;
      case BlockKind::kEventsLeftOut:
        events_left_out = true;
        return;
      case BlockKind::kMemoryCounters:
        return copy_all(bytes, record.memory_counters);
      case BlockKind::kGpuSamples:
        return copy_all(bytes, record.gpu_samples);
      default:
        if (!read_names(kind, bytes) && !read_trace(kind, bytes) && !read_memory(kind, bytes))
          throw Error("a block has the unknown kind " + std::to_string(static_cast<std::uint32_t>(kind)));
    }
  }

  bool read_names(BlockKind kind, std::string_view bytes) {
    switch (kind) {
      case BlockKind::kText:
        texts.push_back(record.trace.texts.intern(bytes));
        return true;
      case BlockKind::kShapes:
        copy_all(bytes, record.trace.shapes);
        return true;
      case BlockKind::kFrame:
        record.memory_trace.frames.push_back(frame_from(bytes));
        return true;
      case BlockKind::kStack:
        copy_all(bytes, record.memory_trace.stacks.emplace_back());
        return true;
      default:
        return false;
    }
  }

  bool read_trace(BlockKind kind, std::string_view bytes) {
    event::Trace& trace = record.trace;
    switch (kind) {
      case BlockKind::kRanges:
        each<event::Numbered<event::Range>>(bytes, [&](const auto& range) { put(range, trace.ranges); });
        return true;
      case BlockKind::kOperators:
        each<CallBlock>(bytes, [&](const auto& call) { put(call_of(call), trace.operators); });
        return true;
      case BlockKind::kCollectives:
        each<CollectiveBlock>(bytes, [&](const auto& call) { put(call_of(call), trace.collectives); });
        return true;
      case BlockKind::kLaunches:
        convert_all<LaunchBlock>(bytes, trace.launches);
        return true;
      case BlockKind::kGraphNodes:
        copy_all(bytes, trace.graph_nodes);
        return true;
      case BlockKind::kActivities:
        convert_all<ActivityBlock>(bytes, trace.activities);
        return true;
      case BlockKind::kApiCalls:
        copy_all(bytes, trace.api_calls);
        return true;
      case BlockKind::kSynchronizations:
        convert_all<SynchronizationBlock>(bytes, trace.synchronizations);
        return true;
      case BlockKind::kOverheadRecords:
        convert_all<OverheadBlock>(bytes, trace.overhead_records);
        return true;
      case BlockKind::kClockSyncs:
        convert_all<ClockSyncBlock>(bytes, trace.clock_syncs);
        return true;
      default:
        return false;
    }
  }

  bool read_memory(BlockKind kind, std::string_view bytes) {
    event::Memory& memory = record.memory_trace;
    switch (kind) {
      case BlockKind::kMemoryEvents:
        copy_all(bytes, memory.events);
        return true;
      case BlockKind::kTags:
        copy_all(bytes, memory.tags);
        return true;
      case BlockKind::kDeviceMemory:
        convert_all<DeviceMemoryBlock>(bytes, memory.device);
        return true;
      default:
        return false;
    }
  }

  void read_header(std::string_view bytes) {
    const Json json = parse_json(bytes, "the header");
    header.warmup = integer_at(json, "warmup");
    header.run_start_ns = integer_at(json, "run_start_ns");
    if (json.contains("steps")) header.steps = integer_at(json, "steps");
    record.device = json.at("device").get<event::Device>();
  }

  template <class Block, class Visit>
  static void each(std::string_view bytes, Visit visit) {
    Block block;
    for (; bytes.size() >= sizeof(block); bytes.remove_prefix(sizeof(block))) {
      std::memcpy(static_cast<void*>(&block), bytes.data(), sizeof(block));
      visit(block);
    }
  }

  template <class Event>
  static void copy_all(std::string_view bytes, std::vector<Event>& events) {
    each<Event>(bytes, [&](const Event& event) { events.push_back(event); });
  }

  template <class Block, class Event>
  static void convert_all(std::string_view bytes, std::vector<Event>& events) {
    each<Block>(bytes, [&](const Block& block) { events.push_back(event_of(block)); });
  }

  template <class Event>
  static void put(const event::Numbered<Event>& numbered, std::vector<Event>& events) {
    if (numbered.number < 0 || numbered.number >= kMaxEvents)
      throw Error("an event has the number " + std::to_string(numbered.number));
    const auto index = static_cast<std::size_t>(numbered.number);
    if (index >= events.size()) events.resize(index + 1);
    events[index] = numbered.event;
  }

  event::TextId text_of(event::TextId id) const {
    return id == event::kNoText || id > texts.size() ? event::kNoText : texts[id - 1];
  }

  template <class Number, class Event>
  static bool is_known(Number number, const std::vector<Event>& events) {
    return number >= 0 && static_cast<std::size_t>(number) < events.size();
  }

  void complete(event::Position& position) const {
    if (!is_known(position.range, record.trace.ranges)) position.range = -1;
    if (!is_known(position.phase, record.trace.phases)) position.phase = -1;
  }

  /// Translates the texts, and forgets references to events that are missing.
  void complete_events() {
    complete_operators();
    complete_device_events();
    complete_memory();
  }

  void complete_operators() {
    event::Trace& trace = record.trace;
    for (event::Range& range : trace.ranges) {
      range.name = text_of(range.name);
      range.path = text_of(range.path);
      if (!is_known(range.parent, trace.ranges)) range.parent = -1;
      if (!is_known(range.phase, trace.phases)) range.phase = -1;
    }
    for (std::size_t i = 0; i < trace.operators.size(); ++i) {
      event::Operator& call = trace.operators[i];
      call.name = text_of(call.name);
      call.shapes = text_of(call.shapes);
      if (!is_known(call.parent, trace.operators) || static_cast<std::size_t>(call.parent) >= i) call.parent = -1;
      complete(call.position);
    }
    for (event::Collective& call : trace.collectives) {
      call.communicator = text_of(call.communicator);
      complete(call.position);
    }
    event::pass_nodes_down(trace.operators);
  }

  void complete_device_events() {
    event::Trace& trace = record.trace;
    keep_last_positions(trace.graph_nodes);
    const auto complete_with_operator = [&](event::Position& position) {
      complete(position);
      if (!is_known(position.op, trace.operators)) position.op = -1;
    };
    for (event::Launch& launch : trace.launches) complete_with_operator(launch.position);
    for (event::GraphNode& node : trace.graph_nodes) complete_with_operator(node.position);
    for (event::Activity& activity : trace.activities) {
      activity.name = text_of(activity.name);
      const bool is_kernel = activity.kind == event::ActivityKind::kKernel;
      if (is_kernel && activity.shape >= trace.shapes.size())
        throw Error("a kernel has the unknown shape " + std::to_string(activity.shape));
    }
    for (event::ApiCall& call : trace.api_calls) call.name = text_of(call.name);
  }

  /// The number of a node may have been used again.
  static void keep_last_positions(std::vector<event::GraphNode>& nodes) {
    std::ranges::reverse(nodes);
    std::ranges::stable_sort(nodes, {}, &event::GraphNode::node);
    const auto is_same = [](const event::GraphNode& a, const event::GraphNode& b) { return a.node == b.node; };
    nodes.erase(std::unique(nodes.begin(), nodes.end(), is_same), nodes.end());
  }

  void complete_memory() {
    event::Memory& memory = record.memory_trace;
    std::ranges::stable_sort(memory.device, {}, &event::DeviceMemory::time_ns);
    for (event::MemoryEvent& event : memory.events) {
      static_cast<void>(event::to_string(event.device));  // throws Error for an unknown one
      event.op = text_of(event.op);
      complete(event.position);
      if (!is_known(event.stack, memory.stacks)) event.stack = -1;
    }
    for (const auto& stack : memory.stacks)
      for (const std::uint32_t frame : stack)
        if (frame >= memory.frames.size()) throw Error("a stack has the unknown frame " + std::to_string(frame));
  }

  void read_step(std::string_view bytes) {
    const event::StepSamples conversion(record.trace.phases, header.run_start_ns);
    event::StepTime step;
    std::vector<event::PhaseTime> times(record.trace.phases.size());
    const std::size_t needed = sizeof(step) + times.size() * sizeof(event::PhaseTime);
    if (bytes.size() != needed)
      throw Error("a step has " + std::to_string(bytes.size()) + " bytes, not " + std::to_string(needed));
    std::memcpy(&step, bytes.data(), sizeof(step));
    std::memcpy(times.data(), bytes.data() + sizeof(step), bytes.size() - sizeof(step));
    conversion.append(step, times, record.samples);
  }
};

std::string lost_events_text(const JournalReader& journal) {
  std::string text = "the process was ended before it wrote its events: those since its last complete step are missing";
  if (!journal.record.trace.activities.empty())
    text += ", and the last kernels and copies before it, up to about 2,000, which CUPTI had not delivered";
  if (journal.events_left_out) text += ", as is everything beyond 1 GiB of events";
  return text;
}

void derive(event::PassRecord& record, std::int64_t warmup) {
  try {
    analysis::derive(record, {.warmup = warmup, .classifier = nullptr, .on_host = record.device.kind == "cpu"});
  } catch (const std::exception& error) {
    record.dropped_records.push_back({"analysis", kNone, error.what()});
  }
}

}  // namespace

std::string fewer_steps_text(std::int64_t measured, std::int64_t wanted) {
  return "the program ended after " + std::to_string(measured) + " of the " + std::to_string(wanted) +
         " steps to measure";
}

std::optional<std::int64_t> recover_from_journal(const fs::path& rank_file, std::int64_t run_id, int rank,
                                                 measure::Pass pass) {
  const fs::path file = rank_file.string() + kJournalSuffix;
  if (fs::exists(rank_file) || !fs::exists(file)) return std::nullopt;
  JournalReader journal(file);
  event::PassRecord& record = journal.record;
  const std::int64_t measured = std::ranges::count_if(
      record.samples, [](const event::Sample& each) { return each.phase == event::kWholeStep && !each.warmup; });
  if (journal.header.steps && measured < *journal.header.steps)
    record.warnings.push_back({"fewer steps", fewer_steps_text(measured, *journal.header.steps)});
  if (measure::observes(pass)) {
    derive(record, journal.header.warmup);
    record.dropped_records.push_back({"store", kNone, lost_events_text(journal)});
  }
  write_rank_file(rank_file, run_id, rank, pass, record);
  remove_journal(file);
  return measured;
}

void recover_journals(const fs::path& folder) {
  std::vector<fs::path> rank_files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::string path = entry.path().string();
    if (!path.ends_with(kJournalSuffix)) continue;
    path.resize(path.size() - std::strlen(kJournalSuffix));
    rank_files.emplace_back(path);
  }
  for (const fs::path& file : rank_files) {
    const auto name = parse_rank_file_name(file);
    if (!name) continue;
    try {
      recover_from_journal(file, name->run_id, name->rank, enum_from<measure::Pass>(name->pass));
    } catch (const std::exception&) {
      continue;  // the run is stored without these measurements
    }
  }
}

}  // namespace kymo::store
