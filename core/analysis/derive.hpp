// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/kernel_class.hpp"
#include "event/derived.hpp"
#include "event/records.hpp"
#include "event/trace.hpp"

/// The stages of the analysis of a trace, and derive(), which runs all of them. Totals count events that end before
/// they start with a duration of 0.
namespace kymo::analysis {

/// Sorts the activities by start and sets step, phase, scope and attribution of each activity and operator. An activity
/// uses its graph node if its capture was recorded, otherwise the launch with the same correlation id. Work launched by
/// a backward node belongs to the innermost forward scope whose interval of sequence numbers (on the forward thread)
/// contains that of the node; other work belongs to the scope that was open on the launching thread. A node without a
/// sequence number (gradient accumulation, the gradient seed) only determines the phase. For a replayed graph, the step
/// is that of the launch and everything else is that of the node. A node that was captured outside of phases and
/// scopes, or whose capture was not recorded, is attributed like other work of the launch. An operator without an end
/// gets the end of its parent and is counted as a DroppedRecords entry. Also returned as DroppedRecords, but kept:
/// activities that end before they start, or that start before their launch by more than the clock error; launches in
/// steps whose work was not recorded; and activities without a launch.
std::vector<event::DroppedRecords> attribute(event::Trace& trace);

/// Sets step, phase and scope of each collective like attribute() does for launches, and the time during which this
/// rank worked on it. Without a stream, this is the time from the begin to the end of the call. On a stream, it spans
/// from the start of the first to the end of the last of its communication kernels: those that the thread of the call
/// launched before it returned, between its begin and that of the next call. In a group, nothing is launched until all
/// calls have begun, so all calls of a group share its kernels. Kernels that belong to no call are unchanged. Calls
/// without kernels, which are replayed by a graph or made by a single rank, keep start_ns and end_ns of -1. Activities
/// must be attributed. `is_communication` holds, by string id, whether kernels of that name are communication. Returns
/// a DroppedRecords entry for calls that never ended, for calls without a stream that ended before the kernels they
/// launched, and, if kernels were recorded, for calls without kernels.
std::vector<event::DroppedRecords> attribute_collectives(event::Trace& trace,
                                                         const std::vector<bool>& is_communication);

/// Returns the number of distinct measured steps (not below `warmup`) that have ranges, activities or operators.
std::int64_t measured_steps(const event::Trace& trace, std::int64_t warmup);

/// Returns each activity name once, with its short name and class. Copies and memsets that match no pattern are
/// classified by their kind.
std::vector<event::KernelClass> kernel_classes(const event::Trace& trace, const Classifier& classifier);

/// Returns each scope path once. Its module is the path without indices of repeated components: a trailing _3 is
/// removed, and a component that is only a number becomes *.
std::vector<event::ScopePath> scope_paths(const event::Trace& trace);

/// Returns the totals of activities in measured steps by kind, phase, scope, name, attribution, launch configuration
/// and row in Derived::op_work, in order of first occurrence. `op_work_of` holds this row for each activity (-1: none);
/// it is empty if there are none.
std::vector<event::KernelTotal> kernel_totals(const event::Trace& trace, std::int64_t warmup,
                                              const std::vector<std::int64_t>& op_work_of = {});

/// Returns the totals of operators in measured steps by phase, scope, name and direction, in order of first occurrence.
/// The time of a recursive operator counts at each level in host_ns and once in self_host_ns.
std::vector<event::OpTotal> op_totals(const event::Trace& trace, std::int64_t warmup);

/// Returns the module of a scope path.
std::string module_of(const std::string& path);

/// Returns the GPU activity during each step and each of its phases. Activities must be attributed and sorted by start.
/// The interval of a step begins with the first activity launched in it and ends when the last one ends. A phase begins
/// with the first activity launched in it and ends where the next phase begins, or with the step. Phases without
/// activity are omitted; `other` appears if the step launched activities outside of phases. The phases thus partition
/// the step. All activities that run in an interval count, clipped to it, regardless of which step or phase launched
/// them; `kernels` and `kernel_ns` count the unclipped activities that start in it. For every row, end_ns - start_ns ==
/// compute_ns + comm_ns - overlap_ns + exposed_copy_ns + idle_ns. Rows are ordered by step, the whole step first, then
/// its phases by begin; work outside of steps has no row. `is_communication` holds, by string id, whether kernels of
/// that name are communication.
std::vector<event::StepActivity> step_activity(const event::Trace& trace, const std::vector<bool>& is_communication,
                                               std::int64_t warmup);

/// Returns the rows of step_activity() for a run on the host processors; empty if no operators were recorded.
/// Collectives must be attributed. Compute time is the time during which an operator runs on any thread, except within
/// a communication operator (whose name contains c10d, gloo or nccl). Communication time lasts from the call of a
/// collective until it is done. There are no copies and no kernels. The duration of a step is that of its sample.
/// Phases partition it: each begins where it first began and ends where the next one begins, or with the step. The time
/// before the first phase is `other` if anything ran, else part of that phase. Collectives that were queued on a device
/// or never ended do not count.
std::vector<event::StepActivity> host_activity(const event::PassRecord& record, std::int64_t warmup);

/// Divides the time of the measured steps in which nothing ran on the GPU by what the host did in it. Until the work
/// that ends a gap is launched, this is what the launching thread did: its innermost scope, or, if none is open, that
/// of the work if it belongs to the phase of that time (a backward node has the scope of its forward operator). From
/// the call that launches the work until it begins, it is `launch`. Steps are intervals on the host clock, so that the
/// times add up to the idle time of their duration; `gaps` count where a gap begins; `after_copy_ns` is the part in
/// gaps that begin when a copy to the host ends, for which the host usually waits. Empty if no activities were
/// recorded. Activities must be attributed and sorted by start.
std::vector<event::IdleTotal> idle_totals(const event::PassRecord& record);

/// Maximum number of outliers of a pass. Those with the largest excess over the median of their group are kept; the
/// others can be recomputed from the kernels.
inline constexpr std::size_t kMaxOutliers = 100;

/// Returns the calls of kernels in measured steps that took much longer than their siblings: the calls with the same
/// name, launch shape, phase and module, if there are at least 8. An outlier is at least 8 median absolute deviations
/// above the median (a deviation being at least 1 % of the median and 1 ns), at least 1.5 times the median, and at
/// least 5 µs above it (see Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993). Communication kernels are
/// excluded, because their duration depends on the message and the other ranks, which neither name nor shape
/// identifies; `is_communication` marks them by string id. Activities must be attributed and sorted by start. `samples`
/// provide the clock readings. The result is sorted by start.
std::vector<event::KernelOutlier> kernel_outliers(const event::Trace& trace, const std::vector<bool>& is_communication,
                                                  const std::vector<event::GpuSample>& samples, std::int64_t warmup);

/// Properties of a pass that derive() depends on.
struct DeriveSetting {
  std::int64_t warmup = 0;  ///< number of warm-up steps
  const Classifier* classifier = nullptr;
  bool on_host = false;  ///< the work runs on the host processors instead of a GPU
};

/// Attributes all events of a pass (attribute()) and fills record.derived from record.trace and record.memory_trace.
/// Adds a DroppedRecords entry for inconsistent events. Activities are sorted by start afterwards.
void derive(event::PassRecord& record, const DeriveSetting& setting);

}  // namespace kymo::analysis
