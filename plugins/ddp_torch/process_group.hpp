// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo/communicator.hpp>
#include <kymo/context.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

using ProcessGroupPointer = c10::intrusive_ptr<c10d::ProcessGroup>;

/// LibTorch's own process group of the run's ranks, independent of kymo's communicators. Every rank must call this.
/// Uses the run's rendezvous with its own key prefix and times out after two minutes.
ProcessGroupPointer make_process_group(const kymo::Context& ctx, kymo::comm::Backend backend);
