// SPDX-License-Identifier: Apache-2.0
#include "worker/reference_loop.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/ranges.hpp"
#include "worker/thread_files.hpp"

namespace kymo::worker {
namespace {

constexpr std::uint64_t kIterations = 9000;

/// Steps that use a processor for less than this share of their time sleep, and the processor lowers its clock.
constexpr std::int64_t kLeastUse = 10;  // one in

/// 144,000 operations.
void loop() {
  std::uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
  for (std::uint64_t i = 0; i < kIterations; ++i) {
    a += i, b += i, c += i, d += i, e += i, f += i, g += i, h += i;
    // Keeps the compiler from calculating the results in another way.
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
    a ^= i, b ^= i, c ^= i, d ^= i, e ^= i, f ^= i, g ^= i, h ^= i;
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
  }
}

std::int64_t thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::int64_t reference_loop_ns() {
  const std::int64_t begin_ns = now_ns();
  loop();
  return now_ns() - begin_ns;
}

bool ReferenceLog::another_thread_runs() const {
  bool runs = false;
  for_each_thread(proc_, "stat", [&](std::int64_t thread, const std::string& text) {
    const std::size_t name_end = text.rfind(')');  // the name may contain anything
    runs |= thread != gettid() && name_end != text.npos && text.substr(name_end).starts_with(") R");
  });
  return runs;
}

void ReferenceLog::measure(std::int64_t last_step) {
  unchecked_.push_back({last_step, reference_loop_ns()});
  measured_after_ = last_step;
}

void ReferenceLog::check_threads() {
  if (!another_thread_runs()) append_range(loops_, unchecked_);
  unchecked_.clear();
}

void ReferenceLog::begin(std::int64_t last_step, std::int64_t now) {
  measure(last_step);
  check_threads();
  due_ns_ = now + kIntervalNs;
  check_due_ns_ = now + kCheckNs;
}

void ReferenceLog::add(std::int64_t last_step, const ProcessUsage& usage, std::int64_t elapsed_ns, std::int64_t now) {
  cpu_ns_ += usage.cpu_ns;
  elapsed_ns_ += elapsed_ns;
  if (now < due_ns_) return;
  measure(last_step);
  due_ns_ = now + kIntervalNs;
  if (now < check_due_ns_) return;
  const std::int64_t before_ns = thread_cpu_ns();
  check_threads();
  check_due_ns_ = now + std::max(kCheckNs, kCheckShare * (thread_cpu_ns() - before_ns));
}

void ReferenceLog::end(std::int64_t last_step) {
  if (last_step > measured_after_) measure(last_step);
  check_threads();
}

std::vector<event::ReferenceLoop> ReferenceLog::take() {
  if (kLeastUse * cpu_ns_ < elapsed_ns_) return {};
  return std::move(loops_);
}

}  // namespace kymo::worker
