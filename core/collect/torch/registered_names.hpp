// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/record_function.h>

#include <atomic>
#include <cstdint>

namespace kymo::collect {

/// Tells that registered operators are noticed when they go: call it before the others. Not from several threads at
/// once.
void watch_registered_names();

/// True if `name`, that of the call, lies within its operator's registration: it then lies there, and reads the same,
/// until the operator is deregistered. Slow. Throws c10::Error.
bool is_registered_name(const at::RecordFunction& call, const char* name);

/// How many operators were deregistered since watch_registered_names(). While this does not change, no registered name
/// has gone.
extern std::atomic<std::uint32_t> g_deregistered_operators;

}  // namespace kymo::collect
