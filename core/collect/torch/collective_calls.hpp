// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "collect/collector.hpp"
#include "event/records.hpp"
#include "event/trace.hpp"

namespace kymo::collect {

/// The operation of a record of torch.distributed, such as "gloo:all_reduce" or "nccl:_reduce_scatter_base", or of one
/// of its operators, such as "c10d::_allgather_base_". Empty for other names.
std::optional<event::CollectiveOperation> collective_operation(std::string_view name) noexcept;

/// Starts recording the collective calls that the process makes through torch.distributed, from Python or C++, on any
/// thread. It takes no time in other operators. `setting.execution_context` must be set. Does nothing while a recording
/// is active.
void watch_collectives(const PassSetting& setting);

/// Adds the calls since the last time, and again those of them that have returned since. Does nothing without a
/// recording.
void add_new_collectives(event::NewEvents& events);

/// Ends the recording and adds the calls to record.trace.collectives. Does nothing without a recording.
void end_collectives(event::PassRecord& record);

}  // namespace kymo::collect
