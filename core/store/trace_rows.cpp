// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "base/enum_names.hpp"
#include "store/rank_rows.hpp"

namespace kymo::store {
namespace {

using event::Activity;
using event::ActivityKind;

void write_ranges(RankTarget& to, const std::vector<event::Range>& ranges) {
  using R = const Entry<event::Range>&;
  write_rows<event::Range>(to, "range", ranges,
                           {{"sequence", [](R r) -> RowValue { return r.sequence; }},
                            {"parent", [](R r) { return RowValue::or_null(r.item.parent); }},
                            {"kind", [](R r) -> RowValue { return r.item.is_phase ? "phase" : "scope"; }},
                            {"name_id", [](R r) -> RowValue { return r.texts.name(r.item.name); }},
                            {"scope_id", [](R r) -> RowValue { return r.texts.text(r.item.path); }},
                            {"step", [](R r) -> RowValue { return r.item.step; }},
                            {"phase_id", [](R r) -> RowValue { return r.texts.phase(r.item.phase); }},
                            {"thread", [](R r) -> RowValue { return r.item.thread; }},
                            {"start_ns", [](R r) -> RowValue { return r.item.start_ns; }},
                            {"end_ns", [](R r) { return RowValue::or_null(r.item.end_ns); }}});
}

void write_shapes(RankTarget& to, const std::vector<event::LaunchShape>& shapes) {
  using R = const Entry<event::LaunchShape>&;
  write_rows<event::LaunchShape>(to, "launch_config", shapes,
                                 {{"launch_config", [](R r) -> RowValue { return r.sequence; }},
                                  {"grid_x", [](R r) -> RowValue { return r.item.grid[0]; }},
                                  {"grid_y", [](R r) -> RowValue { return r.item.grid[1]; }},
                                  {"grid_z", [](R r) -> RowValue { return r.item.grid[2]; }},
                                  {"block_x", [](R r) -> RowValue { return r.item.block[0]; }},
                                  {"block_y", [](R r) -> RowValue { return r.item.block[1]; }},
                                  {"block_z", [](R r) -> RowValue { return r.item.block[2]; }},
                                  {"static_shared_bytes", [](R r) -> RowValue { return r.item.static_shared_bytes; }},
                                  {"dynamic_shared_bytes", [](R r) -> RowValue { return r.item.dynamic_shared_bytes; }},
                                  {"registers", [](R r) -> RowValue { return r.item.registers; }}});
}

/// The kinds of activities that occur, and which optional values any of them has.
struct ActivityFacts {
  std::array<bool, 3> kinds{};  // by ActivityKind
  bool graph_nodes = false;
  bool operators = false;

  explicit ActivityFacts(const std::vector<Activity>& activities) {
    for (const Activity& activity : activities) {
      kinds[static_cast<std::size_t>(activity.kind)] = true;
      graph_nodes |= activity.graph_node != 0;
      operators |= activity.op != -1;
    }
  }
};

/// Returns the common columns of kernels, copies and memsets, and those in `more`.
std::vector<RowColumn<Activity>> activity_columns(const RowColumn<Activity>& more, const ActivityFacts& facts) {
  using R = const Entry<Activity>&;
  using Column = RowColumn<Activity>;
  const Column graph_node("graph_node",
                          [](R r) { return r.item.graph_node == 0 ? RowValue::none() : RowValue(r.item.graph_node); });
  const Column op("op", [](R r) { return RowValue::or_null(r.item.op); });
  return {{"sequence", [](R r) -> RowValue { return r.sequence; }},
          {"name_id", [](R r) -> RowValue { return r.texts.name(r.item.name); }},
          {"start_ns", [](R r) -> RowValue { return r.item.start_ns; }},
          {"end_ns", [](R r) -> RowValue { return r.item.end_ns; }},
          {"stream", [](R r) -> RowValue { return r.item.stream; }},
          {"correlation_id", [](R r) -> RowValue { return r.item.correlation_id; }},
          {"step", [](R r) -> RowValue { return r.item.step; }},
          {"phase_id", [](R r) -> RowValue { return r.texts.phase(r.item.phase); }},
          {"scope_id", [](R r) -> RowValue { return r.texts.text(r.item.scope); }},
          {"attribution", [](R r) -> RowValue { return to_string(r.item.attribution); }},
          more,
          facts.graph_nodes ? graph_node : Column::null("graph_node"),
          facts.operators ? op : Column::null("op")};
}

template <ActivityKind kind>
void write_kind(RankTarget& to, const std::vector<Activity>& activities, const RowColumn<Activity>& more,
                const ActivityFacts& facts) {
  if (!facts.kinds[static_cast<std::size_t>(kind)]) return;
  write_rows<Activity>(to, to_string(kind), activities, activity_columns(more, facts),
                       [](const Activity& a) { return a.kind == kind; });
}

void write_activities(RankTarget& to, const std::vector<Activity>& activities) {
  using R = const Entry<Activity>&;
  const ActivityFacts facts(activities);
  const RowColumn<Activity> shape("launch_config", [](R r) -> RowValue { return r.item.shape; });
  const RowColumn<Activity> bytes("bytes", [](R r) -> RowValue { return r.item.bytes; });
  write_kind<ActivityKind::kKernel>(to, activities, shape, facts);
  write_kind<ActivityKind::kMemcpy>(to, activities, bytes, facts);
  write_kind<ActivityKind::kMemset>(to, activities, bytes, facts);
}

void write_calls(RankTarget& to, const event::Trace& trace) {
  using A = const Entry<event::ApiCall>&;
  write_rows<event::ApiCall>(to, "api_call", trace.api_calls,
                             {{"sequence", [](A r) -> RowValue { return r.sequence; }},
                              {"name_id", [](A r) -> RowValue { return r.texts.name(r.item.name); }},
                              {"start_ns", [](A r) -> RowValue { return r.item.start_ns; }},
                              {"end_ns", [](A r) -> RowValue { return r.item.end_ns; }},
                              {"thread", [](A r) -> RowValue { return r.item.thread; }},
                              {"correlation_id", [](A r) -> RowValue { return r.item.correlation_id; }}});
  using S = const Entry<event::Synchronization>&;
  write_rows<event::Synchronization>(to, "synchronization", trace.synchronizations,
                                     {{"sequence", [](S r) -> RowValue { return r.sequence; }},
                                      {"kind", [](S r) -> RowValue { return r.item.kind; }},
                                      {"start_ns", [](S r) -> RowValue { return r.item.start_ns; }},
                                      {"end_ns", [](S r) -> RowValue { return r.item.end_ns; }},
                                      {"stream", [](S r) { return RowValue::or_null(r.item.stream); }},
                                      {"correlation_id", [](S r) -> RowValue { return r.item.correlation_id; }}});
  using P = const Entry<event::OverheadRecord>&;
  write_rows<event::OverheadRecord>(to, "cupti_overhead", trace.overhead_records,
                                    {{"sequence", [](P r) -> RowValue { return r.sequence; }},
                                     {"kind", [](P r) -> RowValue { return r.item.kind; }},
                                     {"start_ns", [](P r) -> RowValue { return r.item.start_ns; }},
                                     {"end_ns", [](P r) -> RowValue { return r.item.end_ns; }}});
}

void write_operators(RankTarget& to, const std::vector<event::Operator>& operators) {
  using R = const Entry<event::Operator>&;
  write_rows<event::Operator>(to, "op", operators,
                              {{"sequence", [](R r) -> RowValue { return r.sequence; }},
                               {"parent", [](R r) { return RowValue::or_null(r.item.parent); }},
                               {"name_id", [](R r) -> RowValue { return r.texts.name(r.item.name); }},
                               {"shapes_id", [](R r) -> RowValue { return r.texts.text(r.item.shapes); }},
                               {"backward", [](R r) -> RowValue { return r.item.backward; }},
                               {"start_ns", [](R r) -> RowValue { return r.item.start_ns; }},
                               {"end_ns", [](R r) { return RowValue::or_null(r.item.end_ns); }},
                               {"self_ns", [](R r) -> RowValue { return r.item.self_ns; }},
                               {"thread", [](R r) -> RowValue { return r.item.position.thread; }},
                               {"autograd_sequence", [](R r) { return RowValue::or_null(r.item.sequence); }},
                               {"step", [](R r) -> RowValue { return r.item.position.step; }},
                               {"phase_id", [](R r) -> RowValue { return r.texts.phase(r.item.position.phase); }},
                               {"scope_id", [](R r) -> RowValue { return r.texts.text(r.item.scope); }},
                               {"attribution", [](R r) -> RowValue { return to_string(r.item.attribution); }}});
}

void write_totals(RankTarget& to, const event::Derived& derived) {
  using K = const Entry<event::KernelTotal>&;
  write_rows<event::KernelTotal>(to, "kernel_total", derived.kernel_totals,
                                 {{"sequence", [](K r) -> RowValue { return r.sequence; }},
                                  {"kind", [](K r) -> RowValue { return to_string(r.item.kind); }},
                                  {"phase_id", [](K r) -> RowValue { return r.texts.phase(r.item.phase); }},
                                  {"scope_id", [](K r) -> RowValue { return r.texts.text(r.item.scope); }},
                                  {"name_id", [](K r) -> RowValue { return r.texts.name(r.item.name); }},
                                  {"attribution", [](K r) -> RowValue { return to_string(r.item.attribution); }},
                                  {"steps", [](K r) -> RowValue { return r.item.steps; }},
                                  {"calls", [](K r) -> RowValue { return r.item.calls; }},
                                  {"bytes", [](K r) -> RowValue { return r.item.bytes; }},
                                  {"total_ns", [](K r) -> RowValue { return r.item.total_ns; }},
                                  {"min_ns", [](K r) -> RowValue { return r.item.min_ns; }},
                                  {"max_ns", [](K r) -> RowValue { return r.item.max_ns; }}});
  using O = const Entry<event::OpTotal>&;
  write_rows<event::OpTotal>(to, "op_total", derived.op_totals,
                             {{"sequence", [](O r) -> RowValue { return r.sequence; }},
                              {"phase_id", [](O r) -> RowValue { return r.texts.phase(r.item.phase); }},
                              {"scope_id", [](O r) -> RowValue { return r.texts.text(r.item.scope); }},
                              {"name_id", [](O r) -> RowValue { return r.texts.name(r.item.name); }},
                              {"backward", [](O r) -> RowValue { return r.item.backward; }},
                              {"steps", [](O r) -> RowValue { return r.item.steps; }},
                              {"calls", [](O r) -> RowValue { return r.item.calls; }},
                              {"host_ns", [](O r) -> RowValue { return r.item.host_ns; }},
                              {"self_host_ns", [](O r) -> RowValue { return r.item.self_host_ns; }},
                              {"kernels", [](O r) -> RowValue { return r.item.kernels; }},
                              {"device_ns", [](O r) -> RowValue { return r.item.device_ns; }}});
}

void write_step_activity(RankTarget& to, const std::vector<event::StepActivity>& steps) {
  using R = const Entry<event::StepActivity>&;
  write_rows<event::StepActivity>(to, "step_activity", steps,
                                  {{"step", [](R r) -> RowValue { return r.item.step; }},
                                   {"phase", [](R r) -> RowValue { return r.item.phase; }},
                                   {"warmup", [](R r) -> RowValue { return r.item.warmup; }},
                                   {"start_ns", [](R r) -> RowValue { return r.item.start_ns; }},
                                   {"end_ns", [](R r) -> RowValue { return r.item.end_ns; }},
                                   {"kernels", [](R r) -> RowValue { return r.item.kernels; }},
                                   {"kernel_ns", [](R r) -> RowValue { return r.item.kernel_ns; }},
                                   {"compute_ns", [](R r) -> RowValue { return r.item.compute_ns; }},
                                   {"comm_ns", [](R r) -> RowValue { return r.item.comm_ns; }},
                                   {"overlap_ns", [](R r) -> RowValue { return r.item.overlap_ns; }},
                                   {"exposed_comm_ns", [](R r) -> RowValue { return r.item.exposed_comm_ns; }},
                                   {"copy_ns", [](R r) -> RowValue { return r.item.copy_ns; }},
                                   {"exposed_copy_ns", [](R r) -> RowValue { return r.item.exposed_copy_ns; }},
                                   {"idle_ns", [](R r) -> RowValue { return r.item.idle_ns; }},
                                   {"gaps", [](R r) -> RowValue { return r.item.gaps; }},
                                   {"longest_gap_ns", [](R r) -> RowValue { return r.item.longest_gap_ns; }}});
}

/// An outlier and its activity.
struct OutlierCall {
  const event::KernelOutlier* outlier;
  const Activity* activity;
};

void write_outliers(RankTarget& to, const event::PassRecord& record) {
  std::vector<OutlierCall> calls;
  for (const event::KernelOutlier& outlier : record.derived.outliers) {
    const auto at = static_cast<std::size_t>(outlier.sequence);
    if (at < record.trace.activities.size()) calls.push_back({&outlier, &record.trace.activities[at]});
  }
  using R = const Entry<OutlierCall>&;
  write_rows<OutlierCall>(
      to, "kernel_outlier", calls,
      {{"sequence", [](R r) -> RowValue { return r.item.outlier->sequence; }},
       {"name_id", [](R r) -> RowValue { return r.texts.name(r.item.activity->name); }},
       {"step", [](R r) -> RowValue { return r.item.activity->step; }},
       {"phase_id", [](R r) -> RowValue { return r.texts.phase(r.item.activity->phase); }},
       {"scope_id", [](R r) -> RowValue { return r.texts.text(r.item.activity->scope); }},
       {"duration_ns", [](R r) -> RowValue { return r.item.activity->end_ns - r.item.activity->start_ns; }},
       {"group_size", [](R r) -> RowValue { return r.item.outlier->group_size; }},
       {"group_median_ns", [](R r) -> RowValue { return r.item.outlier->group_median_ns; }},
       {"deviation", [](R r) -> RowValue { return r.item.outlier->deviation; }},
       {"first_use", [](R r) -> RowValue { return r.item.outlier->first_use; }},
       {"concurrent", [](R r) -> RowValue { return r.item.outlier->concurrent; }},
       {"gap_before_ns", [](R r) -> RowValue { return r.item.outlier->gap_before_ns; }},
       {"sm_clock_mhz", [](R r) -> RowValue { return r.item.outlier->sm_clock_mhz; }}});
}

void write_clock_syncs(RankTarget& to, const std::vector<event::ClockSync>& syncs) {
  using R = const Entry<event::ClockSync>&;
  write_rows<event::ClockSync>(to, "clock_sync", syncs,
                               {{"sequence", [](R r) -> RowValue { return r.sequence; }},
                                {"clock", [](R r) -> RowValue { return r.item.clock; }},
                                {"host_ns", [](R r) -> RowValue { return r.item.host_ns; }},
                                {"clock_ns", [](R r) -> RowValue { return r.item.clock_ns; }},
                                {"error_ns", [](R r) -> RowValue { return r.item.error_ns; }}});
}

}  // namespace

const char* to_string(ActivityKind kind) {
  static constexpr auto kNames = enum_names<ActivityKind>(
      "activity kind",
      {{ActivityKind::kKernel, "kernel"}, {ActivityKind::kMemcpy, "memcpy"}, {ActivityKind::kMemset, "memset"}});
  return kNames.name(kind);
}

void write_trace_summary(RankTarget& to, const event::PassRecord& record) {
  write_totals(to, record.derived);
  write_step_activity(to, record.derived.step_activity);
  write_outliers(to, record);
  write_clock_syncs(to, record.trace.clock_syncs);
}

void write_trace_events(RankTarget& to, const event::Trace& trace) {
  write_ranges(to, trace.ranges);
  write_shapes(to, trace.shapes);
  write_activities(to, trace.activities);
  write_calls(to, trace);
  write_operators(to, trace.operators);
  write_collectives(to, trace.collectives);
}

}  // namespace kymo::store
