// SPDX-License-Identifier: Apache-2.0
#include "store/limited.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

#include "base/clock.hpp"

namespace kymo::store {
namespace {

constexpr int kInstructionsPerCheck = 100'000;  // about a millisecond
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

std::int64_t processor_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

std::int64_t end_after(std::int64_t now, double seconds) {
  return seconds > 0 ? now + static_cast<std::int64_t>(seconds * 1e9) : kNever;
}

}  // namespace

Limited::Limited(const Connection& connection, const Limits& limits)
    : connection_(connection.handle()),
      end_ns_(end_after(now_ns(), limits.seconds)),
      processor_end_ns_(end_after(processor_ns(), limits.processor_seconds)) {
  if (end_ns_ != kNever || processor_end_ns_ != kNever)
    sqlite3_progress_handler(connection_, kInstructionsPerCheck, is_late, this);
  if (limits.memory_bytes > 0) sqlite3_hard_heap_limit64(limits.memory_bytes);
  if (limits.give_up != nullptr && limits.seconds > 0)
    watchdog_ = std::jthread([this, limits](const std::stop_token& stop) { watch(stop, limits); });
}

Limited::~Limited() {
  sqlite3_progress_handler(connection_, 0, nullptr, nullptr);
  sqlite3_hard_heap_limit64(0);
}

int Limited::step(sqlite3_stmt* statement) {
  step_began_ns_ = now_ns();
  const int code = sqlite3_step(statement);
  step_began_ns_ = 0;
  return code;
}

void Limited::watch(const std::stop_token& stop, const Limits& limits) {
  constexpr std::int64_t kGraceNs = 1'000'000'000;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const std::int64_t now = now_ns();
    const std::int64_t began = step_began_ns_;
    if (now > end_ns_ + kGraceNs && began != 0 && now > began + kGraceNs) limits.give_up(limits.seconds);
    const std::int64_t left = std::max(end_ns_ + kGraceNs - now, kGraceNs / 10);
    wakes_.wait_for(lock, stop, std::chrono::nanoseconds(left), [] { return false; });
  }
}

int Limited::is_late(void* self) {
  const auto* limited = static_cast<Limited*>(self);
  if (now_ns() > limited->end_ns_) return 1;
  return limited->processor_end_ns_ != kNever && processor_ns() > limited->processor_end_ns_ ? 1 : 0;
}

}  // namespace kymo::store
