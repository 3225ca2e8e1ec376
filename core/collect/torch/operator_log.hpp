// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/function.h>

#include <cstdint>
#include <limits>
#include <string_view>

#include "collect/collector.hpp"
#include "event/trace.hpp"

namespace kymo::collect {

/// What a pass records of LibTorch's operator calls.
enum class OperatorDetail {
  kNames,  ///< only numbers the active calls; completed calls are not kept
  kRows,   ///< keeps each call as an event::Operator, within setting.how.memory_bytes
};

/// Starts recording all operator calls of the process on all threads, including everything the autograd engine does for
/// a backward node (hooks and gradient accumulation), through a global LibTorch callback. LibTorch callbacks are plain
/// functions, so the recording is process-wide and only one can be active. `setting.execution_context` must be set.
/// Throws std::logic_error if a recording is active.
void watch_operators(const PassSetting& setting, OperatorDetail detail);

/// Prefaults memory for the next calls. Call it from the thread that starts and ends recordings, outside of timed
/// regions.
void warm_operators() noexcept;

/// Adds the calls since the last time to the events, as OperatorPass::add_new(). Same thread as above.
void add_new_operators(event::NewEvents& events);

/// Ends the recording, removes the callback and moves the calls into record.trace.operators, ordered by number; active
/// calls have no end. Calls beyond the memory limit are counted as dropped records of `source`. Does nothing without a
/// recording.
void end_operators(event::PassRecord& record, const char* source);

/// Returns the number of the innermost active call on this thread; -1 if there is none, if it was dropped, or without a
/// recording.
std::int64_t open_operator() noexcept;

/// Returns the number of the Python stack of what the calling thread launches, as stack_of_launch().
std::int32_t open_operator_stack() noexcept;

/// Returns the name of that call, valid until it ends.
std::string_view open_operator_name() noexcept;

/// Returns the autograd node that the calling thread executes and LibTorch's id of the thread that created it (see
/// at::RecordFunction::currentThreadId()). The sequence is -1 without a node, and for gradient accumulation nodes,
/// which have no sequence number.
inline event::AutogradPosition current_autograd_node() noexcept {
  const auto node = torch::autograd::get_current_node();
  if (!node) return {};
  const std::uint64_t sequence = node->sequence_nr();
  const bool has_none = sequence == std::numeric_limits<std::uint64_t>::max();
  return {has_none ? -1 : static_cast<std::int64_t>(sequence), node->thread_id()};
}

/// Returns the sequence number of the next node that the calling thread creates, and LibTorch's id of the thread.
inline event::AutogradPosition next_autograd_node() noexcept {
  return {static_cast<std::int64_t>(at::sequence_number::peek()), at::RecordFunction::currentThreadId()};
}

}  // namespace kymo::collect
