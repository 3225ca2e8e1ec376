// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "collect/collector.hpp"
#include "collect/event_log/operator_pass.hpp"

/// The Python stacks of LibTorch's operator calls, and of the launches within them.
namespace kymo::collect {

/// Starts taking stacks. Throws Unavailable without a Python interpreter.
void watch_stacks(const PassSetting& setting);

/// Returns the number of the stack of a call that begins on this thread; -1 without one. `enclosing` is the innermost
/// active call, or nullptr; `sequence` is that of the call. Most operators release the GIL before they are called, so
/// it is acquired for the moment. A call within an operator of ATen has the stack of that operator. Within a backward
/// node there is none, because the frames of its thread, if any, are those of the call of backward(); but what is
/// computed again there, and creates nodes itself, has one.
std::int32_t stack_of_call(const OpenCall* enclosing, std::int64_t sequence) noexcept;

/// Returns the number of the stack of a launch on this thread: that of the innermost active call, or if there is none,
/// that of the thread if it holds the GIL. A driver may hold locks during a launch, so the GIL is not waited for.
std::int32_t stack_of_launch(const OpenCall* innermost) noexcept;

/// Adds what is new since the last call, as PythonStacks::add_new().
void add_new_stacks(event::NewEvents& events);

/// Ends it and moves stacks into the record. Does nothing if none are taken.
void end_stacks(event::PassRecord& record, const char* source);

}  // namespace kymo::collect
