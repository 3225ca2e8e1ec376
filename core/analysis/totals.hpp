// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/kernel_class.hpp"
#include "event/derived.hpp"
#include "event/trace.hpp"

/// Sums over the events of a trace that attribute() has placed. What ends before it starts counts as lasting no time.
namespace kymo::analysis {

/// How many different steps from `warmup` on the pass has ranges, activities or operators of.
std::int64_t measured_steps(const event::Trace& trace, std::int64_t warmup);

/// Each name of an activity once, with its short name and class; copies and memsets that no pattern knows are classed
/// by what they are.
std::vector<event::KernelClass> kernel_classes(const event::Trace& trace, const Classifier& classifier);

/// Each path of scopes once. Its module is the path without the numbers of repeated parts: a part loses its trailing
/// _3, and one that is nothing but a number becomes *.
std::vector<event::ScopePath> scope_paths(const event::Trace& trace);

/// Activities of the measured steps by kind, phase, scope, name and attribution, in the order in which they first
/// occur.
std::vector<event::KernelTotal> kernel_totals(const event::Trace& trace, std::int64_t warmup);

/// Operators of the measured steps by phase, scope, name and direction, in the order in which they first occur. Time of
/// an operator that calls itself counts at each level in host_ns and once in self_host_ns.
std::vector<event::OpTotal> op_totals(const event::Trace& trace, std::int64_t warmup);

/// The module of a path of scopes.
std::string module_of(const std::string& path);

}  // namespace kymo::analysis
