// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "event/trace.hpp"

namespace kymo::collect {

/// The autograd node that the calling thread works on, with LibTorch's number of the thread that made it (as of
/// at::RecordFunction::currentThreadId()). Sequence -1 without a node, and for gradient accumulation, whose nodes have
/// no number.
event::AutogradPosition current_autograd_node() noexcept;

/// The number that the next node made on the calling thread will get, and LibTorch's number of the thread.
event::AutogradPosition next_autograd_node() noexcept;

}  // namespace kymo::collect
