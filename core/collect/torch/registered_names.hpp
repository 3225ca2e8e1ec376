// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/record_function.h>

#include <atomic>
#include <cstdint>

namespace kymo::collect {

/// Starts tracking the deregistration of operators. Call it before the other functions; not thread-safe.
void watch_registered_names();

/// Returns true if `name`, the name of the call, points into its operator's registration. The pointer and its contents
/// are then valid until the operator is deregistered. Slow. Throws c10::Error.
bool is_registered_name(const at::RecordFunction& call, const char* name);

/// Number of operators deregistered since watch_registered_names(). While it is unchanged, all registered names are
/// valid.
extern std::atomic<std::uint32_t> g_deregistered_operators;

}  // namespace kymo::collect
