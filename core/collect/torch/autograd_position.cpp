// SPDX-License-Identifier: Apache-2.0
#include "collect/torch/autograd_position.hpp"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/function.h>

#include <limits>

namespace kymo::collect {

event::AutogradPosition current_autograd_node() noexcept {
  const auto node = torch::autograd::get_current_node();
  if (!node) return {};
  const std::uint64_t sequence = node->sequence_nr();
  const bool has_none = sequence == std::numeric_limits<std::uint64_t>::max();
  return {has_none ? -1 : static_cast<std::int64_t>(sequence), node->thread_id()};
}

event::AutogradPosition next_autograd_node() noexcept {
  return {static_cast<std::int64_t>(at::sequence_number::peek()), at::RecordFunction::currentThreadId()};
}

}  // namespace kymo::collect
