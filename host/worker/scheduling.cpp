// SPDX-License-Identifier: Apache-2.0
#include "worker/scheduling.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/clock.hpp"
#include "worker/thread_files.hpp"

namespace kymo::worker {
namespace {

constexpr std::int64_t kMinBlockNs = 50'000'000;

std::int64_t ns_of(const timeval& time) { return time.tv_sec * 1'000'000'000 + time.tv_usec * 1'000; }

}  // namespace

ProcessUsage process_usage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {ns_of(usage.ru_utime) + ns_of(usage.ru_stime), usage.ru_nivcsw};
}

ProcessUsage operator-(const ProcessUsage& later, const ProcessUsage& earlier) {
  return {later.cpu_ns - earlier.cpu_ns, later.involuntary_switches - earlier.involuntary_switches};
}

std::optional<SchedulingLog::ThreadWaits> SchedulingLog::thread_waits() const {
  ThreadWaits waits;
  for_each_thread(proc_, "schedstat", [&](std::int64_t thread, const std::string& text) {
    long long running_ns = 0, waiting_ns = 0;  // the third number is that of its time slices
    // A thread may end before its file is read; without schedstat, no thread has the file.
    if (std::sscanf(text.c_str(), "%lld %lld", &running_ns, &waiting_ns) == 2) waits[thread] = waiting_ns;
  });
  return waits.empty() ? std::nullopt : std::optional(std::move(waits));
}

std::optional<std::int64_t> SchedulingLog::pressure_ns() const {
  // some avg10=0.00 avg60=0.00 avg300=0.00 total=<microseconds>
  const std::string text = begin_of(proc_ / "pressure/cpu");
  const std::size_t total = text.find("total=");
  if (!text.starts_with("some ") || total == std::string::npos) return std::nullopt;
  return std::atoll(text.c_str() + total + 6) * 1'000;
}

void SchedulingLog::begin(std::int64_t now) {
  block_ = {};
  block_.start_ns = now;
  waits_ = thread_waits();
  pressure_ns_ = pressure_ns();
  interval_ns_ = kMinBlockNs;
}

bool SchedulingLog::add(std::int64_t last_step, std::int64_t steps, const ProcessUsage& usage, std::int64_t now) {
  block_.step = last_step;
  block_.steps += steps;
  block_.cpu_ns += usage.cpu_ns;
  block_.involuntary_switches += usage.involuntary_switches;
  if (now - block_.start_ns < interval_ns_) return false;
  end_block(now);
  return true;
}

void SchedulingLog::end_block(std::int64_t now) {
  const std::int64_t reading_since_ns = now_ns();
  block_.wall_ns = now - block_.start_ns;
  const std::optional<ThreadWaits> waits = thread_waits();
  if (waits && waits_) {
    block_.threads = static_cast<std::int64_t>(waits->size());
    block_.wait_ns = block_.longest_wait_ns = 0;
    for (const auto& [thread, total_ns] : *waits) {
      const auto before = waits_->find(thread);
      // A smaller number is that of a new thread with the id of an old one.
      const bool is_same = before != waits_->end() && before->second <= total_ns;
      const std::int64_t waited_ns = total_ns - (is_same ? before->second : 0);
      *block_.wait_ns += waited_ns;
      block_.longest_wait_ns = std::max(*block_.longest_wait_ns, waited_ns);
    }
  }
  const std::optional<std::int64_t> pressure = pressure_ns();
  if (pressure && pressure_ns_) block_.pressure_ns = *pressure - *pressure_ns_;
  const std::string load = begin_of(proc_ / "loadavg");
  if (!load.empty()) block_.load_average = std::strtod(load.c_str(), nullptr);
  blocks_.push_back(block_);
  waits_ = waits;
  pressure_ns_ = pressure;
  const std::int64_t cost_ns = now_ns() - reading_since_ns;
  block_ = {};
  block_.start_ns = now + cost_ns;
  interval_ns_ = std::max(kMinBlockNs, cost_share_ * cost_ns);
}

void SchedulingLog::end(std::int64_t now) {
  if (block_.steps > 0) end_block(now);
}

std::vector<event::Scheduling> SchedulingLog::take(std::int64_t run_start_ns) {
  for (event::Scheduling& block : blocks_) block.start_ns -= run_start_ns;
  return std::move(blocks_);
}

}  // namespace kymo::worker
