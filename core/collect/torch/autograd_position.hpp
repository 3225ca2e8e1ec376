// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "event/trace.hpp"

namespace kymo::collect {

/// Returns the autograd node that the calling thread executes and LibTorch's id of the thread that created it (see
/// at::RecordFunction::currentThreadId()). The sequence is -1 without a node, and for gradient accumulation nodes,
/// which have no sequence number.
event::AutogradPosition current_autograd_node() noexcept;

/// Returns the sequence number of the next node that the calling thread creates, and LibTorch's id of the thread.
event::AutogradPosition next_autograd_node() noexcept;

}  // namespace kymo::collect
