// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "event/records.hpp"

/// Which lines of Python code the work of a pass belongs to, from the stacks that were recorded.
namespace kymo::analysis {

/// Gives operators, launches and graph nodes of the backward pass that have no stack the one of the operator that
/// created their node.
void add_forward_stacks(event::Trace& trace);

/// Returns true for a Python file of torch, Triton, kymo or Python's library, and for code that torch generated: what
/// is called there is attributed to its caller.
bool is_library_code(std::string_view file);

/// Returns the totals of operators and activities in measured steps by the innermost line of the user's code, phase and
/// kind, in order of first occurrence. Work without a stack, or with none of the user's frames in it, has no file.
/// Empty if no stacks were recorded. Events must be attributed.
std::vector<event::LineTotal> line_totals(event::PassRecord& record, std::int64_t warmup);

}  // namespace kymo::analysis
