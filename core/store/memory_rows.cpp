// SPDX-License-Identifier: Apache-2.0
#include "store/rank_rows.hpp"

namespace kymo::store {
namespace {

using event::MemoryCategory;

const char* name_of(event::MemoryDevice device) { return device == event::MemoryDevice::kCuda ? "cuda" : "cpu"; }

template <MemoryCategory category>
struct CategoryBytes {
  template <typename Item>
  RowValue operator()(const Entry<Item>& r) const {
    return r.item.category_bytes[static_cast<std::size_t>(category)];
  }
};

/// Appends the live bytes by category to `columns`.
template <typename Item>
std::vector<RowColumn<Item>> with_categories(std::vector<RowColumn<Item>> columns) {
  const std::vector<RowColumn<Item>> categories{
      {"parameter_bytes", CategoryBytes<MemoryCategory::kParameter>{}},
      {"gradient_bytes", CategoryBytes<MemoryCategory::kGradient>{}},
      {"optimizer_state_bytes", CategoryBytes<MemoryCategory::kOptimizerState>{}},
      {"activation_bytes", CategoryBytes<MemoryCategory::kActivation>{}},
      {"workspace_bytes", CategoryBytes<MemoryCategory::kWorkspace>{}},
      {"input_bytes", CategoryBytes<MemoryCategory::kInput>{}},
      {"unknown_bytes", CategoryBytes<MemoryCategory::kUnknown>{}}};
  columns.insert(columns.end(), categories.begin(), categories.end());
  return columns;
}

void write_allocations(RankTarget& to, const std::vector<event::Allocation>& allocations) {
  using R = const Entry<event::Allocation>&;
  write_rows<event::Allocation>(to, "allocation", allocations,
                                {{"sequence", [](R r) -> RowValue { return r.item.sequence; }},
                                 {"device", [](R r) -> RowValue { return name_of(r.item.device); }},
                                 {"address", [](R r) -> RowValue { return r.item.address; }},
                                 {"requested_bytes", [](R r) -> RowValue { return r.item.requested_bytes; }},
                                 {"allocated_bytes", [](R r) -> RowValue { return r.item.allocated_bytes; }},
                                 {"alloc_ns", [](R r) -> RowValue { return r.item.alloc_ns; }},
                                 {"free_ns", [](R r) -> RowValue { return r.item.free_ns; }},
                                 {"reusable_ns", [](R r) -> RowValue { return r.item.reusable_ns; }},
                                 {"free_sequence", [](R r) -> RowValue { return r.item.free_sequence; }},
                                 {"reusable_sequence", [](R r) -> RowValue { return r.item.reusable_sequence; }},
                                 {"stream", [](R r) -> RowValue { return r.item.stream; }},
                                 {"thread", [](R r) -> RowValue { return r.item.thread; }},
                                 {"step", [](R r) -> RowValue { return r.item.step; }},
                                 {"phase_id", [](R r) -> RowValue { return r.texts.phase(r.item.phase); }},
                                 {"scope_id", [](R r) -> RowValue { return r.texts.text(r.item.scope); }},
                                 {"free_step", [](R r) -> RowValue { return r.item.free_step; }},
                                 {"free_phase_id", [](R r) -> RowValue { return r.texts.phase(r.item.free_phase); }},
                                 {"op_id", [](R r) -> RowValue { return r.texts.text(r.item.op); }},
                                 {"category", [](R r) -> RowValue { return to_string(r.item.category); }},
                                 {"category_source", [](R r) -> RowValue { return r.item.category_source; }},
                                 {"stack", [](R r) { return RowValue::or_null(r.item.stack); }}});
}

void write_segments(RankTarget& to, const std::vector<event::Segment>& segments) {
  using R = const Entry<event::Segment>&;
  write_rows<event::Segment>(to, "segment", segments,
                             {{"sequence", [](R r) -> RowValue { return r.item.sequence; }},
                              {"address", [](R r) -> RowValue { return r.item.address; }},
                              {"bytes", [](R r) -> RowValue { return r.item.bytes; }},
                              {"stream", [](R r) -> RowValue { return r.item.stream; }},
                              {"alloc_ns", [](R r) -> RowValue { return r.item.alloc_ns; }},
                              {"free_ns", [](R r) -> RowValue { return r.item.free_ns; }},
                              {"free_sequence", [](R r) -> RowValue { return r.item.free_sequence; }}});
}

void write_points(RankTarget& to, const std::vector<event::MemoryPoint>& points) {
  using R = const Entry<event::MemoryPoint>&;
  write_rows<event::MemoryPoint>(
      to, "memory_point", points,
      with_categories<event::MemoryPoint>(
          {{"sequence", [](R r) -> RowValue { return r.item.sequence; }},
           {"device", [](R r) -> RowValue { return name_of(r.item.device); }},
           {"time_ns", [](R r) -> RowValue { return r.item.time_ns; }},
           {"step", [](R r) -> RowValue { return r.item.step; }},
           {"phase_id", [](R r) -> RowValue { return r.texts.phase(r.item.phase); }},
           {"requested_bytes", [](R r) -> RowValue { return r.item.state.requested_bytes; }},
           {"allocated_bytes", [](R r) -> RowValue { return r.item.state.allocated_bytes; }},
           {"active_bytes", [](R r) -> RowValue { return r.item.state.active_bytes; }},
           {"reserved_bytes", [](R r) -> RowValue { return r.item.state.reserved_bytes; }}}));
}

void write_device(RankTarget& to, const std::vector<event::DeviceMemory>& readings) {
  using R = const Entry<event::DeviceMemory>&;
  write_rows<event::DeviceMemory>(to, "device_memory", readings,
                                  {{"sequence", [](R r) -> RowValue { return r.sequence; }},
                                   {"time_ns", [](R r) -> RowValue { return r.item.time_ns; }},
                                   {"stage", [](R r) -> RowValue { return r.item.stage; }},
                                   {"step", [](R r) -> RowValue { return r.item.step; }},
                                   {"used_bytes", [](R r) -> RowValue { return r.item.used_bytes; }},
                                   {"process_bytes", [](R r) -> RowValue { return r.item.process_bytes; }}});
}

/// A frame of a call stack.
struct StackEntry {
  std::size_t stack;
  std::size_t depth;
  std::uint32_t frame;
};

void write_stacks(RankTarget& to, const event::Memory& memory) {
  std::vector<StackEntry> entries;
  for (std::size_t stack = 0; stack < memory.stacks.size(); ++stack) {
    for (std::size_t depth = 0; depth < memory.stacks[stack].size(); ++depth)
      entries.push_back({stack, depth, memory.stacks[stack][depth]});
  }
  using S = const Entry<StackEntry>&;
  write_rows<StackEntry>(to, "stack", entries,
                         {{"stack", [](S r) -> RowValue { return r.item.stack; }},
                          {"depth", [](S r) -> RowValue { return r.item.depth; }},
                          {"frame", [](S r) -> RowValue { return r.item.frame; }}});
  using F = const Entry<event::StackFrame>&;
  const auto function = [](F r) {
    return r.item.function.empty() ? RowValue::none() : RowValue(r.texts.intern(r.item.function));
  };
  write_rows<event::StackFrame>(to, "stack_frame", memory.frames,
                                {{"frame", [](F r) -> RowValue { return r.sequence; }},
                                 {"module", [](F r) -> RowValue { return r.item.module; }},
                                 {"offset", [](F r) -> RowValue { return r.item.offset; }},
                                 {"function_id", function}});
}

}  // namespace

void write_memory_summary(RankTarget& to, const event::PassRecord& record) {
  using R = const Entry<event::MemoryPhase>&;
  write_rows<event::MemoryPhase>(
      to, "memory_phase", record.derived.memory_phases,
      with_categories<event::MemoryPhase>(
          {{"device", [](R r) -> RowValue { return name_of(r.item.device); }},
           {"step", [](R r) -> RowValue { return r.item.step; }},
           {"phase", [](R r) -> RowValue { return r.item.phase; }},
           {"warmup", [](R r) -> RowValue { return r.item.warmup; }},
           {"begin_allocated_bytes", [](R r) -> RowValue { return r.item.begin_allocated_bytes; }},
           {"end_allocated_bytes", [](R r) -> RowValue { return r.item.end_allocated_bytes; }},
           {"peak_requested_bytes", [](R r) -> RowValue { return r.item.peak.requested_bytes; }},
           {"peak_allocated_bytes", [](R r) -> RowValue { return r.item.peak.allocated_bytes; }},
           {"peak_active_bytes", [](R r) -> RowValue { return r.item.peak.active_bytes; }},
           {"peak_reserved_bytes", [](R r) -> RowValue { return r.item.peak.reserved_bytes; }},
           {"peak_ns", [](R r) -> RowValue { return r.item.peak_ns; }}}));
}

void write_memory_events(RankTarget& to, const event::PassRecord& record) {
  write_allocations(to, record.derived.allocations);
  write_segments(to, record.derived.segments);
  write_points(to, record.derived.memory_points);
  write_device(to, record.memory_trace.device);
  write_stacks(to, record.memory_trace);
}

}  // namespace kymo::store
