// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "collect/standpoint.hpp"

namespace kymo::collect {

/// Execution context of the calling thread: no scope is open, and threads are numbered in the order of their first
/// call.
inline ThreadStanding& own_standing() noexcept {
  static std::atomic<std::uint32_t> next{0};
  thread_local ThreadStanding standing{-1, next++};
  return standing;
}

/// For Standpoint::this_thread.
inline const ThreadStanding& tell_standing() noexcept { return own_standing(); }

}  // namespace kymo::collect
