// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/function.h>

#include <cstdint>
#include <limits>

#include "event/trace.hpp"

namespace kymo::collect {

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
