// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collect/collector.hpp"

namespace kymo::collect {

/// Records which tensors the graphs of autograd keep when a backward pass begins, of the newest step only: those of the
/// largest graph, and of the largest one that is differentiated within another one. The graph is only read: there are
/// no hooks, and nothing in it changes. `setting.execution_context` must be set. Call it while no backward pass runs.
void watch_saved_tensors(const PassSetting& setting);

/// Called when the engine evaluates a node on this thread; `nested` in the evaluation of another one. Reads the graph
/// if the node is the first of a backward pass. Does nothing without a recording.
void evaluate_node(bool nested) noexcept;

/// Moves the tensors into record.memory_trace, with dropped records of `source` for nodes that could not be read.
void end_saved_tensors(event::PassRecord& record, const char* source);

}  // namespace kymo::collect
