// SPDX-License-Identifier: Apache-2.0
#include "store/table.hpp"

/// The trace and ops passes: ranges, GPU activities, operators and collectives, and what the analysis derives from
/// them.
namespace kymo::store {
namespace {

using event::Activity;
using event::Derived;
using event::PassRecord;
using event::Trace;

auto kernel_class_table() {
  using K = event::KernelClass;
  return declare_table<&Derived::kernel_classes>(
      "kernel_class", Extent::kNoEvent,
      {string_column<&K::name>("name_id"), column<&K::short_name>("short_name"), column<&K::kernel_class>("class")},
      [](const K& each) { return each.name != event::kNoText; }, RowOwner::kString);
}

auto scope_path_table() {
  using S = event::ScopePath;
  return declare_table<&Derived::scope_paths>(
      "scope_path", Extent::kNoEvent,
      {string_column<&S::path>("scope_id"), column<&S::module>("module"), column<&S::depth>("depth")},
      [](const S& each) { return each.path != event::kNoText; }, RowOwner::kString);
}

auto kernel_total_table() {
  using K = event::KernelTotal;
  return declare_table<&Derived::kernel_totals>(
      "kernel_total", Extent::kNoEvent,
      {sequence_column<K>(), column<&K::kind>("kind"), phase_column<&K::phase>("phase_id"),
       string_column<&K::scope>("scope_id"), name_column<&K::name>("name_id"), column<&K::attribution>("attribution"),
       column<&K::steps>("steps"), column<&K::calls>("calls"), column<&K::bytes>("bytes"),
       column<&K::total_ns>("total_ns"), column<&K::min_ns>("min_ns"), column<&K::max_ns>("max_ns"),
       column_or_null<&K::launch_config>("launch_config"), column_or_null<&K::op_work>("op_work")});
}

auto op_total_table() {
  using O = event::OpTotal;
  return declare_table<&Derived::op_totals>(
      "op_total", Extent::kNoEvent,
      {sequence_column<O>(), phase_column<&O::phase>("phase_id"), string_column<&O::scope>("scope_id"),
       name_column<&O::name>("name_id"), column<&O::backward>("backward"), column<&O::steps>("steps"),
       column<&O::calls>("calls"), column<&O::host_ns>("host_ns"), column<&O::self_host_ns>("self_host_ns"),
       column<&O::kernels>("kernels"), column<&O::device_ns>("device_ns")});
}

auto line_total_table() {
  using L = event::LineTotal;
  return declare_table<&Derived::line_totals>(
      "line_total", Extent::kNoEvent,
      {sequence_column<L>(), string_column<&L::file>("file_id"), column_or_null<&L::line>("line"),
       string_column<&L::function>("function_id"), phase_column<&L::phase>("phase_id"),
       column<&L::of_forward>("of_forward"), column<&L::kind>("kind"), column<&L::steps>("steps"),
       column<&L::calls>("calls"), column<&L::total_ns>("total_ns")});
}

auto hardware_count_table() {
  using H = event::HardwareCount;
  return declare_table<H>("hardware_count", Extent::kNoEvent,
                          [](const PassRecord& record) -> const auto& { return record.hardware_counts; },
                          {sequence_column<H>(), column<&H::step>("step"), phase_column<&H::phase>("phase_id"),
                           string_column<&H::scope>("scope_id"), name_column<&H::name>("name_id"),
                           column<&H::calls>("calls"), column<&H::value>("value")});
}

auto kernel_count_table() {
  using K = event::KernelCount;
  return declare_table<K>("kernel_count", Extent::kNoEvent,
                          [](const PassRecord& record) -> const auto& { return record.kernel_counts; },
                          {sequence_column<K>(), column<&K::launch>("launch"), phase_column<&K::phase>("phase_id"),
                           string_column<&K::kernel>("kernel_id"), name_column<&K::name>("name_id"),
                           column<&K::steps>("steps"), column<&K::value>("value")});
}

auto op_work_table() {
  using O = event::OpWork;
  using R = const Entry<O>&;
  return declare_table<&Derived::op_work>(
      "op_work", Extent::kNoEvent,
      {sequence_column<O>(),
       phase_column<&O::phase>("phase_id"),
       string_column<&O::scope>("scope_id"),
       name_column<&O::name>("name_id"),
       string_column<&O::arguments>("shapes_id"),
       column<&O::recomputed>("recomputed"),
       {"kind", [](R r) -> RowValue { return r.item.call.kind; }},
       {"dtype", [](R r) -> RowValue { return r.item.call.dtype; }},
       column<&O::steps>("steps"),
       column<&O::calls>("calls"),
       {"flops", [](R r) -> RowValue { return r.item.call.flops; }},
       {"model_flops", [](R r) -> RowValue { return r.item.call.model_flops; }},
       {"masked_model_flops", [](R r) -> RowValue { return r.item.call.masked_model_flops; }},
       {"bytes", [](R r) -> RowValue { return r.item.call.bytes; }},
       column<&O::host_ns>("host_ns"),
       column<&O::kernels>("kernels"),
       column<&O::device_ns>("device_ns")});
}

auto step_activity_table() {
  using S = event::StepActivity;
  return declare_table<&Derived::step_activity>(
      "step_activity", Extent::kNoEvent,
      {column<&S::step>("step"), column<&S::phase>("phase"), column<&S::warmup>("warmup"),
       column<&S::start_ns>("start_ns"), column<&S::end_ns>("end_ns"), column<&S::kernels>("kernels"),
       column<&S::kernel_ns>("kernel_ns"), column<&S::compute_ns>("compute_ns"), column<&S::comm_ns>("comm_ns"),
       column<&S::overlap_ns>("overlap_ns"), column<&S::exposed_comm_ns>("exposed_comm_ns"),
       column<&S::copy_ns>("copy_ns"), column<&S::exposed_copy_ns>("exposed_copy_ns"), column<&S::idle_ns>("idle_ns"),
       column<&S::gaps>("gaps"), column<&S::longest_gap_ns>("longest_gap_ns")});
}

auto idle_total_table() {
  using I = event::IdleTotal;
  return declare_table<&Derived::idle_totals>(
      "idle_total", Extent::kNoEvent,
      {sequence_column<I>(), phase_column<&I::phase>("phase_id"), string_column<&I::scope>("scope_id"),
       column<&I::activity>("activity"), column<&I::steps>("steps"), column<&I::gaps>("gaps"),
       column<&I::total_ns>("total_ns"), column<&I::after_copy_ns>("after_copy_ns")});
}

/// An outlier and its activity.
struct OutlierCall {
  event::KernelOutlier outlier;
  Activity activity;
};

std::vector<OutlierCall> outlier_calls(const PassRecord& record) {
  std::vector<OutlierCall> calls;
  for (const event::KernelOutlier& outlier : record.derived.outliers) {
    const auto at = static_cast<std::size_t>(outlier.sequence);
    if (at < record.trace.activities.size()) calls.push_back({outlier, record.trace.activities[at]});
  }
  return calls;
}

auto kernel_outlier_table() {
  using R = const Entry<OutlierCall>&;
  return declare_table<OutlierCall>(
      "kernel_outlier", Extent::kNoEvent, outlier_calls,
      {{"sequence", [](R r) { return r.item.outlier.sequence; }},
       {"name_id", [](R r) { return r.texts.name(r.item.activity.name); }, true},
       {"step", [](R r) { return r.item.activity.step; }},
       {"phase_id", [](R r) { return r.texts.phase(r.item.activity.phase); }, true},
       {"scope_id", [](R r) { return r.texts.text(r.item.activity.scope); }, true},
       {"duration_ns", [](R r) { return r.item.activity.end_ns - r.item.activity.start_ns; }},
       {"group_size", [](R r) { return r.item.outlier.group_size; }},
       {"group_median_ns", [](R r) { return r.item.outlier.group_median_ns; }},
       {"deviation", [](R r) { return r.item.outlier.deviation; }},
       {"first_use", [](R r) { return r.item.outlier.first_use; }},
       {"concurrent", [](R r) { return r.item.outlier.concurrent; }},
       {"gap_before_ns", [](R r) { return r.item.outlier.gap_before_ns; }},
       {"sm_clock_mhz", [](R r) -> RowValue { return r.item.outlier.sm_clock_mhz; }}});
}

auto clock_sync_table() {
  using C = event::ClockSync;
  return declare_table<&Trace::clock_syncs>(
      "clock_sync", Extent::kNoEvent,
      {sequence_column<C>(), column<&C::clock>("clock"), column<&C::host_ns>("host_ns"),
       column<&C::clock_ns>("clock_ns"), column<&C::error_ns>("error_ns")});
}

auto range_table() {
  using R = event::Range;
  return declare_table<&Trace::ranges>(
      "range", Extent::kStep,
      {sequence_column<R>(),
       column_or_null<&R::parent>("parent"),
       {"kind", [](const Entry<R>& entry) { return entry.item.is_phase ? "phase" : "scope"; }},
       name_column<&R::name>("name_id"),
       string_column<&R::path>("scope_id"),
       column<&R::step>("step"),
       phase_column<&R::phase>("phase_id"),
       column<&R::thread>("thread"),
       column<&R::start_ns>("start_ns"),
       column_or_null<&R::end_ns>("end_ns")});
}

auto launch_config_table() {
  using S = event::LaunchShape;
  using R = const Entry<S>&;
  return declare_table<&Trace::shapes>("launch_config", Extent::kNoEvent,
                                       {sequence_column<S>("launch_config"),
                                        {"grid_x", [](R r) { return r.item.grid[0]; }},
                                        {"grid_y", [](R r) { return r.item.grid[1]; }},
                                        {"grid_z", [](R r) { return r.item.grid[2]; }},
                                        {"block_x", [](R r) { return r.item.block[0]; }},
                                        {"block_y", [](R r) { return r.item.block[1]; }},
                                        {"block_z", [](R r) { return r.item.block[2]; }},
                                        column<&S::static_shared_bytes>("static_shared_bytes"),
                                        column<&S::dynamic_shared_bytes>("dynamic_shared_bytes"),
                                        column<&S::registers>("registers")});
}

bool is_kernel(const Activity& activity) { return activity.kind == event::ActivityKind::kKernel; }

auto gpu_activity_table() {
  using A = Activity;
  using R = const Entry<A>&;
  return declare_table<&Trace::activities>(
      "gpu_activity", Extent::kStep,
      {sequence_column<A>(),
       name_column<&A::name>("name_id"),
       column<&A::start_ns>("start_ns"),
       column<&A::end_ns>("end_ns"),
       column<&A::stream>("stream"),
       column<&A::correlation_id>("correlation_id"),
       column<&A::step>("step"),
       phase_column<&A::phase>("phase_id"),
       string_column<&A::scope>("scope_id"),
       column<&A::attribution>("attribution"),
       {"launch_config", [](R r) { return is_kernel(r.item) ? RowValue(r.item.shape) : RowValue::null(); }},
       Column<A>("graph_node",
                 [](R r) { return r.item.graph_node == 0 ? RowValue::null() : RowValue(r.item.graph_node); })
           .rarely_set([](const A& activity) { return activity.graph_node != 0; }),
       column_or_null<&A::op>("op").rarely_set([](const A& activity) { return activity.op != -1; }),
       Column<A>("bytes", [](R r) { return is_kernel(r.item) ? RowValue::null() : RowValue(r.item.bytes); })
           .rarely_set([](const A& activity) { return !is_kernel(activity); }),
       column_or_null<&A::stack>("stack").rarely_set([](const A& activity) { return activity.stack != -1; })});
}

auto api_call_table() {
  using C = event::ApiCall;
  return declare_table<&Trace::api_calls>(
      "api_call", Extent::kTime,
      {sequence_column<C>(), name_column<&C::name>("name_id"), column<&C::start_ns>("start_ns"),
       column<&C::end_ns>("end_ns"), column<&C::thread>("thread"), column<&C::correlation_id>("correlation_id")});
}

auto synchronization_table() {
  using S = event::Synchronization;
  return declare_table<&Trace::synchronizations>(
      "synchronization", Extent::kTime,
      {sequence_column<S>(), column<&S::kind>("kind"), column<&S::start_ns>("start_ns"), column<&S::end_ns>("end_ns"),
       column_or_null<&S::stream>("stream"), column<&S::correlation_id>("correlation_id")});
}

auto overhead_table() {
  using O = event::OverheadRecord;
  return declare_table<&Trace::overhead_records>(
      "cupti_overhead", Extent::kTime,
      {sequence_column<O>(), column<&O::kind>("kind"), column<&O::start_ns>("start_ns"), column<&O::end_ns>("end_ns")});
}

/// Columns for the context of a call.
template <typename Record>
std::vector<Column<Record>> context_columns() {
  using R = const Entry<Record>&;
  return {{"step", [](R r) { return r.item.position.step; }},
          {"phase_id", [](R r) { return r.texts.phase(r.item.position.phase); }, true},
          string_column<&Record::scope>("scope_id"),
          column<&Record::attribution>("attribution")};
}

template <typename Record>
std::vector<Column<Record>> with_context(std::vector<Column<Record>> columns) {
  for (Column<Record>& column : context_columns<Record>()) columns.push_back(column);
  return columns;
}

auto op_table() {
  using O = event::Operator;
  return declare_table<&Trace::operators>(
      "op", Extent::kStep,
      with_context<O>({sequence_column<O>(),
                       column_or_null<&O::parent>("parent"),
                       name_column<&O::name>("name_id"),
                       string_column<&O::shapes>("shapes_id"),
                       column<&O::backward>("backward"),
                       column<&O::start_ns>("start_ns"),
                       column_or_null<&O::end_ns>("end_ns"),
                       column<&O::self_ns>("self_ns"),
                       {"thread", [](const Entry<O>& entry) { return entry.item.position.thread; }},
                       column_or_null<&O::sequence>("autograd_sequence"),
                       Column<O>("stack", [](const Entry<O>& entry) {
                         const std::int32_t stack = entry.item.position.stack;
                         return stack == -1 ? RowValue::null() : RowValue(stack);
                       }).rarely_set([](const O& call) { return call.position.stack != -1; })}));
}

auto collective_table() {
  using C = event::Collective;
  return declare_table<&Trace::collectives>(
      "collective", Extent::kStep,
      with_context<C>(
          {sequence_column<C>(),
           name_column<&C::communicator>("communicator_id"),
           column<&C::sequence>("call_number"),
           column<&C::operation>("operation"),
           column<&C::bytes>("bytes"),
           column<&C::on_device>("on_device"),
           column<&C::enqueue_ns>("enqueue_ns"),
           column_or_null<&C::returned_ns>("returned_ns"),
           column_or_null<&C::start_ns>("start_ns"),
           column_or_null<&C::end_ns>("end_ns"),
           column<&C::kernels>("kernels"),
           column_or_null<&C::group_ranks>("group_ranks"),
           column<&C::dtype>("dtype"),
           column_or_null<&C::needed_ns>("needed_ns"),
           string_column<&C::needed_by>("needed_by_id"),
           {"needed_phase_id",
            [](const Entry<C>& entry) { return entry.texts.phase(entry.item.needed_position.phase); }, true}}));
}

}  // namespace

void add_trace_tables(Tables& tables) {
  tables.push_back(kernel_class_table());
  tables.push_back(scope_path_table());
  tables.push_back(kernel_total_table());
  tables.push_back(op_total_table());
  tables.push_back(line_total_table());
  tables.push_back(op_work_table());
  tables.push_back(hardware_count_table());
  tables.push_back(kernel_count_table());
  tables.push_back(step_activity_table());
  tables.push_back(idle_total_table());
  tables.push_back(kernel_outlier_table());
  tables.push_back(clock_sync_table());
  tables.push_back(range_table());
  tables.push_back(launch_config_table());
  tables.push_back(gpu_activity_table());
  tables.push_back(api_call_table());
  tables.push_back(synchronization_table());
  tables.push_back(overhead_table());
  tables.push_back(op_table());
  tables.push_back(collective_table());
}

}  // namespace kymo::store
