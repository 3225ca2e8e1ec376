// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "collect/execution_context.hpp"

namespace kymo::collect {

/// Execution context of the calling thread: no scope is open, and threads are numbered in the order of their first
/// call.
inline ThreadPosition& own_position() noexcept {
  static std::atomic<std::uint32_t> next{0};
  thread_local ThreadPosition thread_position{-1, next++};
  return thread_position;
}

/// For ExecutionContext::this_thread.
inline const ThreadPosition& set_thread_position() noexcept { return own_position(); }

}  // namespace kymo::collect
