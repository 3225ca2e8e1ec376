// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace kymo::collect {

/// A thread that repeats a reading.
class PeriodicThread {
 public:
  PeriodicThread() = default;
  ~PeriodicThread() { stop(); }
  PeriodicThread(const PeriodicThread&) = delete;
  PeriodicThread& operator=(const PeriodicThread&) = delete;

  /// Calls `read` at once and then again and again; it returns the time to the next call in ns. Does nothing if the
  /// thread runs already. Throws std::system_error.
  void start(std::function<std::int64_t()> read) {
    if (thread_.joinable()) return;
    stopping_ = false;
    thread_ = std::thread([this, read = std::move(read)] { repeat(read); });
  }
  /// Returns when the last call has returned; does nothing if there is no thread.
  void stop() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

 private:
  void repeat(const std::function<std::int64_t()>& read) {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      lock.unlock();
      const std::int64_t pause_ns = read();
      lock.lock();
      wake_.wait_for(lock, std::chrono::nanoseconds(pause_ns), [this] { return stopping_; });
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
  bool stopping_ = false;
};

}  // namespace kymo::collect
