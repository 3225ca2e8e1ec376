// SPDX-License-Identifier: Apache-2.0
#include "analysis/derive.hpp"

#include <iterator>
#include <utility>

#include "analysis/memory_timeline.hpp"
#include "analysis/operator_work.hpp"
#include "analysis/python_lines.hpp"

namespace kymo::analysis {
namespace {

void move_dropped_records(std::vector<event::DroppedRecords> dropped_records, event::PassRecord& record) {
  record.dropped_records.insert(record.dropped_records.end(), std::make_move_iterator(dropped_records.begin()),
                                std::make_move_iterator(dropped_records.end()));
}

/// Returns, by string id, whether kernels of that name are communication.
std::vector<bool> communicating(const event::PassRecord& record) {
  std::vector<bool> result(record.trace.texts.size() + 1, false);
  for (const auto& each : record.derived.kernel_classes) result[each.name] = each.kernel_class == "communication";
  return result;
}

}  // namespace

void derive(event::PassRecord& record, const DeriveSetting& setting) {
  const event::Trace& trace = record.trace;
  event::Derived& derived = record.derived;
  move_dropped_records(attribute(record.trace), record);
  derived.kernel_classes = kernel_classes(trace, setting.classifier ? *setting.classifier : Classifier());
  const std::vector<bool> is_communication = communicating(record);
  move_dropped_records(attribute_collectives(record.trace, is_communication), record);
  derived.op_totals = op_totals(trace, setting.warmup);
  // Without events of an allocator, the stacks are those of Python.
  if (record.memory_trace.events.empty()) derived.line_totals = line_totals(record, setting.warmup);
  OpWorkTotals work = op_work(record, setting.warmup);
  derived.op_work = std::move(work.rows);
  derived.kernel_totals = kernel_totals(trace, setting.warmup, work.row_of_activity);
  derived.step_activity =
      setting.on_host ? host_activity(record, setting.warmup) : step_activity(trace, is_communication, setting.warmup);
  if (!setting.on_host) derived.idle_totals = idle_totals(record);
  derived.outliers = kernel_outliers(trace, is_communication, record.gpu_samples, setting.warmup);
  if (!record.memory_trace.events.empty()) move_dropped_records(derive_memory(record, setting.warmup), record);
  derived.scope_paths = scope_paths(trace);
}

}  // namespace kymo::analysis
