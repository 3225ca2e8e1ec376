// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>

#include "store/table.hpp"

/// What the worker measures in every pass: durations, metrics, verification, counters and marks.
namespace kymo::store {
namespace {

using event::PassRecord;

auto sample_table() {
  using S = event::Sample;
  return declare_table<&PassRecord::samples>(
      "sample", Extent::kNoEvent,
      {column<&S::step>("step"), column<&S::phase>("phase"), column<&S::warmup>("warmup"),
       column<&S::throttled>("throttled"), column<&S::calls>("calls"), column<&S::start_ns>("start_ns"),
       column<&S::host_ns>("host_ns"), column<&S::device_ns>("device_ns"), column<&S::cpu_ns>("cpu_ns"),
       column<&S::involuntary_switches>("involuntary_switches")});
}

auto scheduling_table() {
  using S = event::Scheduling;
  return declare_table<&PassRecord::scheduling>(
      "scheduling", Extent::kNoEvent,
      {column<&S::step>("step"), column<&S::steps>("steps"), column<&S::start_ns>("start_ns"),
       column<&S::wall_ns>("wall_ns"), column<&S::cpu_ns>("cpu_ns"),
       column<&S::involuntary_switches>("involuntary_switches"), column<&S::threads>("threads"),
       column<&S::wait_ns>("wait_ns"), column<&S::longest_wait_ns>("longest_wait_ns"),
       column<&S::pressure_ns>("pressure_ns"), column<&S::load_average>("load_average")});
}

auto reference_loop_table() {
  using L = event::ReferenceLoop;
  return declare_table<&PassRecord::reference_loops>(
      "reference_loop", Extent::kNoEvent, {column<&L::step>("step"), column<&L::duration_ns>("duration_ns")});
}

auto warning_table() {
  using W = event::Warning;
  return declare_table<&PassRecord::warnings>(
      "warning", Extent::kNoEvent, {sequence_column<W>(), column<&W::kind>("kind"), column<&W::detail>("detail")});
}

/// A metric that is not a number is a result (such as a diverged loss), so keep it visible.
RowValue metric_value(const event::Metric& metric) {
  if (!metric.number) return metric.text;
  return std::isnan(*metric.number) ? RowValue("nan") : RowValue(*metric.number);
}

auto metric_table() {
  using M = event::Metric;
  return declare_table<&PassRecord::metrics>("metric", Extent::kNoEvent,
                                             {sequence_column<M>(),
                                              column<&M::level>("level"),
                                              column<&M::step>("step"),
                                              column<&M::phase>("phase"),
                                              column<&M::name>("name"),
                                              {"value", [](const Entry<M>& entry) { return metric_value(entry.item); }},
                                              column<&M::unit>("unit")});
}

auto compilation_table() {
  using C = event::Compilation;
  return declare_table<&PassRecord::compilations>(
      "compilation", Extent::kNoEvent,
      {sequence_column<C>(), column<&C::kind>("kind"), column<&C::step>("step"),
       column<&C::program_step>("program_step"), column<&C::start_ns>("start_ns"),
       column<&C::duration_ns>("duration_ns"), column<&C::inductor_ns>("inductor_ns"), column<&C::function>("function"),
       column<&C::file>("file"), column<&C::line>("line"), column<&C::reason>("reason")});
}

/// Work that is not a finite number counts as not declared.
double declared(double count) { return std::isfinite(count) && count > 0 ? count : 0; }

auto work_table() {
  using W = event::Work;
  return declare_table<&PassRecord::work>("work", Extent::kNoEvent,
                                          {column<&W::phase>("phase"),
                                           {"flops", [](const Entry<W>& entry) { return declared(entry.item.flops); }},
                                           {"bytes", [](const Entry<W>& entry) { return declared(entry.item.bytes); }}},
                                          nullptr, RowOwner::kRank);
}

auto declared_op_work_table() {
  using D = event::DeclaredOpWork;
  return declare_table<&PassRecord::declared_op_work>(
      "declared_op_work", Extent::kNoEvent,
      {sequence_column<D>(), column<&D::name>("name"), column<&D::arguments>("arguments"), column<&D::flops>("flops"),
       column<&D::bytes>("bytes")});
}

/// Gives checks with the same name distinct names: `y`, `y #2`.
std::vector<event::Check> with_distinct_names(std::vector<event::Check> checks) {
  std::map<std::string, int> seen;
  for (event::Check& check : checks) {
    const int count = ++seen[check.name];
    if (count > 1) check.name += " #" + std::to_string(count);
  }
  return checks;
}

auto verification_table() {
  using C = event::Check;
  return declare_table<C>(
      "verification", Extent::kNoEvent, [](const PassRecord& record) { return with_distinct_names(record.checks); },
      {column<&C::name>("name"), column<&C::outcome>("outcome"), column<&C::max_abs_error>("max_abs_error"),
       column<&C::max_rel_error>("max_rel_error"), column<&C::tolerance>("tolerance"),
       column<&C::reference>("reference"), column<&C::detail>("detail")},
      nullptr, RowOwner::kRank);
}

auto gpu_sample_table() {
  using G = event::GpuSample;
  return declare_table<&PassRecord::gpu_samples>(
      "gpu_sample", Extent::kNoEvent,
      {column<&G::step>("step"), column<&G::time_ns>("time_ns"), column<&G::sm_clock_mhz>("sm_clock_mhz"),
       column<&G::memory_clock_mhz>("memory_clock_mhz"), column<&G::power_mw>("power_mw"),
       column<&G::temperature_c>("temperature_c"), column<&G::throttle_reasons>("throttle_reasons")});
}

auto gpu_utilization_table() {
  using U = event::GpuUtilization;
  return declare_table<&PassRecord::gpu_utilization>(
      "gpu_utilization", Extent::kNoEvent,
      {column<&U::start_ns>("start_ns"), column<&U::end_ns>("end_ns"), column<&U::sm_utilization>("sm_utilization"),
       column<&U::sm_occupancy>("sm_occupancy"), column<&U::tensor_utilization>("tensor_utilization"),
       column<&U::dram_utilization>("dram_utilization"), column<&U::kernel_time>("kernel_time"),
       column<&U::pcie_sent_bytes_per_s>("pcie_sent_bytes_per_s"),
       column<&U::pcie_received_bytes_per_s>("pcie_received_bytes_per_s"),
       column<&U::nvlink_sent_bytes_per_s>("nvlink_sent_bytes_per_s"),
       column<&U::nvlink_received_bytes_per_s>("nvlink_received_bytes_per_s")});
}

auto memory_counter_table() {
  using C = event::MemoryCounter;
  return declare_table<&PassRecord::memory_counters>(
      "memory_counter", Extent::kNoEvent,
      {column<&C::step>("step"), column<&C::time_ns>("time_ns"), column<&C::allocated_bytes>("allocated_bytes"),
       column<&C::reserved_bytes>("reserved_bytes"), column<&C::device_allocations>("device_allocations")});
}

auto mark_table() {
  using M = event::Mark;
  return declare_table<&PassRecord::marks>(
      "mark", Extent::kNoEvent,
      {sequence_column<M>(), column<&M::name>("name"), column<&M::time_ns>("time_ns"), column<&M::step>("step")});
}

std::vector<event::OutOfMemory> out_of_memory(const PassRecord& record) {
  if (!record.out_of_memory) return {};
  return {*record.out_of_memory};
}

auto out_of_memory_table() {
  using O = event::OutOfMemory;
  return declare_table<O>("out_of_memory", Extent::kNoEvent, out_of_memory,
                          {column<&O::where>("location"), column<&O::requested_bytes>("requested_bytes"),
                           column<&O::free_bytes>("free_bytes"), column<&O::peak_bytes>("peak_bytes")});
}

/// What the store itself cannot write follows these rows.
auto dropped_record_table() {
  using D = event::DroppedRecords;
  return declare_table<&PassRecord::dropped_records>(
      "dropped_record", Extent::kNoEvent,
      {sequence_column<D>(), column<&D::source>("source"), column<&D::count>("count"), column<&D::detail>("detail")});
}

}  // namespace

void add_measurement_tables(Tables& tables) {
  tables.push_back(sample_table());
  tables.push_back(scheduling_table());
  tables.push_back(reference_loop_table());
  tables.push_back(warning_table());
  tables.push_back(metric_table());
  tables.push_back(compilation_table());
  tables.push_back(work_table());
  tables.push_back(declared_op_work_table());
  tables.push_back(verification_table());
  tables.push_back(gpu_sample_table());
  tables.push_back(gpu_utilization_table());
  tables.push_back(memory_counter_table());
  tables.push_back(mark_table());
  tables.push_back(out_of_memory_table());
  tables.push_back(dropped_record_table());
}

}  // namespace kymo::store
