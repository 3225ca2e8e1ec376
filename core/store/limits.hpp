// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kymo::store {

/// Limits of each query. 0 means no limit.
struct Limits {
  double seconds = 0;
  double processor_seconds = 0;   ///< of the calling thread; for work whose time does not depend on other programs
  std::int64_t memory_bytes = 0;  ///< of SQLite in this process
  /// Of each value that is read or computed. 0: kMaxReadBytes for a database opened for reading.
  std::int64_t value_bytes = 0;
  /// Called on another thread if a query goes on for a second after its time, because SQLite cannot interrupt a call of
  /// a function. Must end the process.
  void (*give_up)(double seconds) = nullptr;
};

/// No value that kymo stores is larger. A larger one in a file is damage, or crafted to use up memory.
inline constexpr std::int64_t kMaxReadBytes = 4 << 20;

}  // namespace kymo::store
