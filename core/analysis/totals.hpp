// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/kernel_class.hpp"
#include "event/derived.hpp"
#include "event/trace.hpp"

/// Totals over the attributed events of a trace. Events that end before they start count with a duration of 0.
namespace kymo::analysis {

/// Returns the number of distinct measured steps (not below `warmup`) that have ranges, activities or operators.
std::int64_t measured_steps(const event::Trace& trace, std::int64_t warmup);

/// Returns each activity name once, with its short name and class. Copies and memsets that match no pattern are
/// classified by their kind.
std::vector<event::KernelClass> kernel_classes(const event::Trace& trace, const Classifier& classifier);

/// Returns each scope path once. Its module is the path without indices of repeated components: a trailing _3 is
/// removed, and a component that is only a number becomes *.
std::vector<event::ScopePath> scope_paths(const event::Trace& trace);

/// Returns the totals of activities in measured steps by kind, phase, scope, name and attribution, in order of first
/// occurrence.
std::vector<event::KernelTotal> kernel_totals(const event::Trace& trace, std::int64_t warmup);

/// Returns the totals of operators in measured steps by phase, scope, name and direction, in order of first occurrence.
/// The time of a recursive operator counts at each level in host_ns and once in self_host_ns.
std::vector<event::OpTotal> op_totals(const event::Trace& trace, std::int64_t warmup);

/// Returns the module of a scope path.
std::string module_of(const std::string& path);

}  // namespace kymo::analysis
