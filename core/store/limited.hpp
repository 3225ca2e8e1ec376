// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>

#include "store/results.hpp"
#include "store/sqlite.hpp"

namespace kymo::store {

/// Stops the statements of a connection after a time, and limits SQLite's memory, while the object exists. SQLite
/// checks the time between instructions: a single call of a function ends first.
class Limited {
 public:
  Limited(const Connection& connection, const Limits& limits);
  ~Limited();
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

  /// Calls sqlite3_step().
  int step(sqlite3_stmt* statement);

 private:
  static int is_late(void* self);
  void watch(const std::stop_token& stop, const Limits& limits);

  sqlite3* connection_;
  std::int64_t end_ns_;
  std::int64_t processor_end_ns_;
  std::atomic<std::int64_t> step_began_ns_ = 0;  ///< 0 between two steps
  std::mutex mutex_;
  std::condition_variable_any wakes_;
  std::jthread watchdog_;
};

}  // namespace kymo::store
