// SPDX-License-Identifier: Apache-2.0
#include "store/journal_reader.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "measure/json_field.hpp"
#include "store/journal_blocks.hpp"
#include "store/journal_format.hpp"
#include "store/mapped_stream.hpp"

namespace kymo::store {
namespace fs = std::filesystem;
namespace {

/// Offsets of the bytes of a record that must be 0 or 1.
template <class Record>
inline constexpr std::array<std::size_t, 0> kFlags{};
template <>
inline constexpr std::array kFlags<event::StepTime>{offsetof(event::StepTime, warmup),
                                                    offsetof(event::StepTime, throttled)};
template <>
inline constexpr std::array kFlags<event::Numbered<event::Range>>{offsetof(event::Numbered<event::Range>, event) +
                                                                  offsetof(event::Range, is_phase)};
inline constexpr std::size_t kStackFlag = offsetof(event::Position, stack_of_forward);
template <>
inline constexpr std::array kFlags<event::GraphNode>{offsetof(event::GraphNode, position) + kStackFlag};
template <>
inline constexpr std::array kFlags<event::MemoryEvent>{offsetof(event::MemoryEvent, position) + kStackFlag};
static_assert(sizeof(std::optional<std::int64_t>) == 2 * sizeof(std::int64_t));
inline constexpr std::size_t kHasValue = sizeof(std::int64_t);  // the flag follows the value
template <>
inline constexpr std::array kFlags<event::GpuSample>{
    offsetof(event::GpuSample, sm_clock_mhz) + kHasValue, offsetof(event::GpuSample, memory_clock_mhz) + kHasValue,
    offsetof(event::GpuSample, power_mw) + kHasValue, offsetof(event::GpuSample, temperature_c) + kHasValue};

/// Copies a record from bytes that are at least as long. Throws Error if a flag is neither true nor false.
template <class Record>
void copy(std::string_view bytes, Record& record) {
  for (const std::size_t flag : kFlags<Record>)
    if (static_cast<unsigned char>(bytes[flag]) > 1) throw Error("a flag is neither 0 nor 1");
  std::memcpy(static_cast<void*>(&record), bytes.data(), sizeof(record));
}

struct JournalReader {
  JournalContent& journal;
  event::PassRecord& record = journal.record;
  std::vector<event::TextId> texts = {};  // of the record, by id - 1
  std::size_t file_bytes = 0;
  std::int64_t last_step = -1;

  void read(const fs::path& file) {
    read_blocks(file, "the journal of steps", kJournalChunkBytes, kJournalChunkBytes);
    const fs::path events = file.string() + kEventSuffix;
    if (!fs::exists(events)) return;
    read_blocks(events, "the journal of events", kWholeFile, MappedStream::kChunkBytes);
    complete_events();
  }

  void read_blocks(const fs::path& file, const std::string& name, std::size_t chunk_bytes, std::size_t growth_bytes) {
    const std::string content = read_file(file);
    file_bytes = content.size();
    const auto damage = visit_blocks(content, chunk_bytes, growth_bytes,
                                     [this](BlockKind kind, std::string_view bytes) { read_block(kind, bytes); });
    if (damage)
      journal.damage.push_back(name + " is damaged at byte " + std::to_string(damage->offset) + " of " +
                               std::to_string(content.size()) + " (" + damage->cause + "): what follows was not read");
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
        journal.events_left_out = true;
        return;
      case BlockKind::kText:
        texts.push_back(record.trace.texts.intern(bytes));
        return;
      case BlockKind::kShapes:
        return copy_all(bytes, record.trace.shapes);
      case BlockKind::kFrame:
        record.memory_trace.frames.push_back(frame_from(bytes));
        return;
      case BlockKind::kStack:
        return copy_all(bytes, record.memory_trace.stacks.emplace_back());
      default:
        read_events(kind, bytes);
    }
  }

  void read_events(BlockKind kind, std::string_view bytes) {
    auto each_kind = static_cast<std::uint32_t>(BlockKind::kFirstStream);
    bool known = false;
    event::for_each_stream([&](auto stream) {
      if (static_cast<BlockKind>(each_kind++) != kind) return;
      known = true;
      using Event = typename std::remove_cvref_t<decltype(stream.of(std::declval<event::NewEvents&>()))>::value_type;
      each<BlockOf<Event>>(bytes, [&](const auto& block) { put(event_of(block), stream.of(record)); });
    });
    if (!known) throw Error("a block has the unknown kind " + std::to_string(static_cast<std::uint32_t>(kind)));
  }

  void read_header(std::string_view bytes) {
    const Json json = parse_json(bytes, "the header");
    JournalHeader& header = journal.header;
    header.warmup = integer_at(json, "warmup");
    header.run_start_ns = integer_at(json, "run_start_ns");
    if (json.contains("steps")) header.steps = integer_at(json, "steps");
    record.device = json.at("device").get<event::Device>();
  }

  template <class Block, class Visit>
  static void each(std::string_view bytes, Visit visit) {
    Block block;
    for (; bytes.size() >= sizeof(block); bytes.remove_prefix(sizeof(block))) {
      copy(bytes, block);
      visit(block);
    }
  }

  template <class Event>
  static void copy_all(std::string_view bytes, std::vector<Event>& events) {
    each<Event>(bytes, [&](const Event& event) { events.push_back(event); });
  }

  template <class Event>
  static void put(const Event& event, std::vector<Event>& events) {
    events.push_back(event);
  }

  /// Events of several threads arrive in any order, but no file has room for more of them than it has bytes.
  template <class Event>
  void put(const event::Numbered<Event>& numbered, std::vector<Event>& events) const {
    const auto index = static_cast<std::size_t>(numbered.number);
    if (numbered.number < 0 || index >= file_bytes / sizeof(PositionBlock))
      throw Error("an event has the number " + std::to_string(numbered.number));
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
    if (!is_known(position.stack, record.memory_trace.stacks)) position.stack = -1;
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
    drop(trace.node_stacks, "Python stacks of operators",
         [&](const event::NodeStack& node) { return !is_known(node.stack, record.memory_trace.stacks); });
    for (event::LibraryOpWork& work : record.library_op_work) {
      work.name = text_of(work.name);
      work.arguments = text_of(work.arguments);
    }
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
    for (event::Activity& activity : trace.activities) activity.name = text_of(activity.name);
    drop(trace.activities, "kernels whose launch configuration is missing", [&](const event::Activity& activity) {
      return activity.kind == event::ActivityKind::kKernel && activity.shape >= trace.shapes.size();
    });
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
    drop(memory.events, "events of an unknown allocator",
         [](const event::MemoryEvent& event) { return event.device > event::MemoryDevice::kCuda; });
    for (event::MemoryEvent& event : memory.events) {
      event.op = text_of(event.op);
      complete(event.position);
      if (!is_known(event.stack, memory.stacks)) event.stack = -1;
    }
    for (auto& stack : memory.stacks)
      drop(stack, "code locations of stacks", [&](std::uint32_t frame) { return frame >= memory.frames.size(); });
  }

  template <class Event, class IsUnusable>
  void drop(std::vector<Event>& events, const char* what, IsUnusable is_unusable) {
    std::string detail = what;  // GCC 12 warns of a sum of strings here
    detail += " in the journal of events";
    event::add_dropped(record.dropped_records, "store", static_cast<std::int64_t>(std::erase_if(events, is_unusable)),
                       detail);
  }

  /// Phases lie within their step, and the step within the run.
  bool are_possible(const event::StepTime& step, const std::vector<event::PhaseTime>& times) const {
    constexpr std::int64_t kMostDeviceNs = std::int64_t{1} << 53;  // a hundred days
    const auto is_device_time = [](std::int64_t ns) { return ns >= -1 && ns <= kMostDeviceNs; };
    if (step.begin_ns < 0 || step.end_ns < step.begin_ns) return false;
    const std::int64_t host_ns = step.end_ns - step.begin_ns;
    return journal.header.run_start_ns >= 0 && step.begin_ns >= journal.header.run_start_ns &&
           is_device_time(step.device_ns) && std::ranges::all_of(times, [&](const event::PhaseTime& time) {
             return time.calls == 0 ||
                    (time.calls > 0 && time.start_ns >= step.begin_ns && time.start_ns <= step.end_ns &&
                     time.host_ns >= 0 && time.host_ns <= host_ns && is_device_time(time.device_ns));
           });
  }

  void read_step(std::string_view bytes) {
    const event::StepSamples conversion(record.trace.phases, journal.header.run_start_ns);
    event::StepTime step;
    std::vector<event::PhaseTime> times(record.trace.phases.size());
    const std::size_t needed = sizeof(step) + times.size() * sizeof(event::PhaseTime);
    if (bytes.size() != needed)
      throw Error("a step has " + std::to_string(bytes.size()) + " bytes, not " + std::to_string(needed));
    copy(bytes, step);
    std::memcpy(times.data(), bytes.data() + sizeof(step), bytes.size() - sizeof(step));
    if (step.step <= last_step || !are_possible(step, times))
      throw Error("the times of step " + std::to_string(step.step) + " are impossible");
    last_step = step.step;
    conversion.append(step, times, record.samples);
  }
};

}  // namespace

JournalContent read_journal(const fs::path& file) {
  JournalContent journal;
  JournalReader{journal}.read(file);
  return journal;
}

}  // namespace kymo::store
