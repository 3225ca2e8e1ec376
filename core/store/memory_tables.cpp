// SPDX-License-Identifier: Apache-2.0
#include "store/table.hpp"

/// The memory pass: the memory timeline, call stacks, and what the analysis derives from them.
namespace kymo::store {
namespace {

using event::Derived;
using event::Memory;
using event::PassRecord;

auto memory_phase_table() {
  using M = event::MemoryPhase;
  using R = const Entry<M>&;
  return declare_table<&Derived::memory_phases>(
      "memory_phase", Extent::kNoEvent,
      {column<&M::device>("device"),
       column<&M::step>("step"),
       column<&M::phase>("phase"),
       column<&M::warmup>("warmup"),
       column<&M::begin_allocated_bytes>("begin_allocated_bytes"),
       column<&M::end_allocated_bytes>("end_allocated_bytes"),
       {"peak_requested_bytes", [](R r) { return r.item.peak.requested_bytes; }},
       {"peak_allocated_bytes", [](R r) { return r.item.peak.allocated_bytes; }},
       {"peak_active_bytes", [](R r) { return r.item.peak.active_bytes; }},
       {"peak_reserved_bytes", [](R r) { return r.item.peak.reserved_bytes; }},
       column<&M::peak_ns>("peak_ns")});
}

/// The memory of a category at the peak of a phase.
struct PeakPart {
  const event::MemoryPhase* phase;
  event::MemoryCategory category;
  std::int64_t bytes;
};

std::vector<PeakPart> peak_parts(const PassRecord& record) {
  std::vector<PeakPart> parts;
  for (const event::MemoryPhase& phase : record.derived.memory_phases) {
    for (std::size_t i = 0; i < event::kMemoryCategories; ++i) {
      if (phase.category_bytes[i] != 0)
        parts.push_back({&phase, static_cast<event::MemoryCategory>(i), phase.category_bytes[i]});
    }
  }
  return parts;
}

auto memory_phase_category_table() {
  using P = PeakPart;
  using R = const Entry<P>&;
  return declare_table<P>("memory_phase_category", Extent::kNoEvent, peak_parts,
                          {{"device", [](R r) { return r.item.phase->device; }},
                           {"step", [](R r) { return r.item.phase->step; }},
                           {"phase", [](R r) { return RowValue(r.item.phase->phase); }},
                           column<&P::category>("category"),
                           column<&P::bytes>("bytes")});
}

auto memory_part_table() {
  using M = event::MemoryPart;
  return declare_table<M>("memory_part", Extent::kNoEvent,
                          [](const PassRecord& record) -> const auto& { return record.derived.memory_parts; },
                          {column<&M::device>("device"), column<&M::category>("category"), column<&M::phase>("phase"),
                           column<&M::scope>("scope"), column<&M::bytes>("bytes")});
}

auto allocation_table() {
  using A = event::Allocation;
  return declare_table<&Derived::allocations>("allocation", Extent::kLifetime,
                                              {column<&A::sequence>("sequence"),
                                               column<&A::device>("device"),
                                               column<&A::address>("address"),
                                               column<&A::requested_bytes>("requested_bytes"),
                                               column<&A::allocated_bytes>("allocated_bytes"),
                                               column<&A::alloc_ns>("alloc_ns"),
                                               column<&A::free_ns>("free_ns"),
                                               column<&A::reusable_ns>("reusable_ns"),
                                               column<&A::free_sequence>("free_sequence"),
                                               column<&A::reusable_sequence>("reusable_sequence"),
                                               column<&A::stream>("stream"),
                                               column<&A::thread>("thread"),
                                               column<&A::step>("step"),
                                               phase_column<&A::phase>("phase_id"),
                                               string_column<&A::scope>("scope_id"),
                                               column<&A::free_step>("free_step"),
                                               phase_column<&A::free_phase>("free_phase_id"),
                                               string_column<&A::op>("op_id"),
                                               column<&A::category>("category"),
                                               column<&A::category_source>("category_source"),
                                               column_or_null<&A::stack>("stack")});
}

auto segment_table() {
  using S = event::Segment;
  return declare_table<&Derived::segments>(
      "segment", Extent::kLifetime,
      {column<&S::sequence>("sequence"), column<&S::address>("address"), column<&S::bytes>("bytes"),
       column<&S::stream>("stream"), column<&S::alloc_ns>("alloc_ns"), column<&S::free_ns>("free_ns"),
       column<&S::free_sequence>("free_sequence")});
}

auto memory_point_table() {
  using M = event::MemoryPoint;
  using R = const Entry<M>&;
  return declare_table<&Derived::memory_points>("memory_point", Extent::kStep,
                                                {column<&M::sequence>("sequence"),
                                                 column<&M::device>("device"),
                                                 column<&M::time_ns>("time_ns"),
                                                 column<&M::step>("step"),
                                                 phase_column<&M::phase>("phase_id"),
                                                 {"requested_bytes", [](R r) { return r.item.state.requested_bytes; }},
                                                 {"allocated_bytes", [](R r) { return r.item.state.allocated_bytes; }},
                                                 {"active_bytes", [](R r) { return r.item.state.active_bytes; }},
                                                 {"reserved_bytes", [](R r) { return r.item.state.reserved_bytes; }}});
}

auto device_memory_table() {
  using D = event::DeviceMemory;
  return declare_table<&Memory::device>(
      "device_memory", Extent::kMoment,
      {sequence_column<D>(), column<&D::time_ns>("time_ns"), column<&D::stage>("stage"), column<&D::step>("step"),
       column<&D::used_bytes>("used_bytes"), column<&D::process_bytes>("process_bytes")});
}

/// A frame of a call stack.
struct StackEntry {
  std::size_t stack;
  std::size_t depth;
  std::uint32_t frame;
};

std::vector<StackEntry> stack_entries(const PassRecord& record) {
  const auto& stacks = record.memory_trace.stacks;
  std::vector<StackEntry> entries;
  for (std::size_t stack = 0; stack < stacks.size(); ++stack) {
    for (std::size_t depth = 0; depth < stacks[stack].size(); ++depth)
      entries.push_back({stack, depth, stacks[stack][depth]});
  }
  return entries;
}

auto stack_table() {
  using S = StackEntry;
  return declare_table<S>("stack", Extent::kStack, stack_entries,
                          {column<&S::stack>("stack"), column<&S::depth>("depth"), column<&S::frame>("frame")});
}

auto stack_frame_table() {
  using F = event::StackFrame;
  const auto function = [](const Entry<F>& entry) {
    return entry.item.function.empty() ? RowValue::null() : RowValue(entry.texts.intern(entry.item.function));
  };
  return declare_table<&Memory::frames>("stack_frame", Extent::kFrame,
                                        {sequence_column<F>("frame"),
                                         column<&F::module>("module"),
                                         column<&F::offset>("offset"),
                                         {"function_id", function, true},
                                         column_or_null<&F::line>("line")});
}

auto saved_tensor_table() {
  using K = event::KeptTensor;
  return declare_table<&Derived::kept_tensors>(
      "saved_tensor", Extent::kNoEvent,
      {sequence_column<K>(), column<&K::step>("step"), column<&K::nested>("nested"), name_column<&K::node>("node_id"),
       string_column<&K::scope>("scope_id"), name_column<&K::type>("type_id"), column<&K::bytes>("bytes"),
       column<&K::storage>("storage"), column<&K::storage_bytes>("storage_bytes"),
       column<&K::counted_bytes>("counted_bytes"), column<&K::memory>("memory")});
}

}  // namespace

void add_memory_tables(Tables& tables) {
  tables.push_back(memory_phase_table());
  tables.push_back(memory_phase_category_table());
  tables.push_back(memory_part_table());
  tables.push_back(allocation_table());
  tables.push_back(segment_table());
  tables.push_back(memory_point_table());
  tables.push_back(device_memory_table());
  tables.push_back(stack_table());
  tables.push_back(stack_frame_table());
  tables.push_back(saved_tensor_table());
}

}  // namespace kymo::store
