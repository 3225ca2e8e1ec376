// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/utilization_sampler.hpp"

#include <utility>

#include "base/clock.hpp"
#include "base/ranges.hpp"

namespace kymo::collect {
namespace {

/// The mean of two neighboring intervals, weighted with their durations. A value that only one has is kept.
event::GpuUtilization merged(const event::GpuUtilization& first, const event::GpuUtilization& second) {
  event::GpuUtilization both = first;
  both.end_ns = second.end_ns;
  const auto first_ns = static_cast<double>(first.end_ns - first.start_ns);
  const auto second_ns = static_cast<double>(second.end_ns - second.start_ns);
  for (const auto value : event::GpuUtilization::values()) {
    if (!(second.*value)) continue;
    both.*value = first.*value ? (*(first.*value) * first_ns + *(second.*value) * second_ns) / (first_ns + second_ns)
                               : second.*value;
  }
  return both;
}

}  // namespace

UtilizationSampler::UtilizationSampler(Read read, const Setting& setting)
    : read_(std::move(read)), setting_(setting), interval_ns_(setting.interval_ns) {}

void UtilizationSampler::start() {
  thread_.start([this] { return sample(); });
}

std::int64_t UtilizationSampler::sample() {
  std::optional<event::GpuUtilization> utilization = read_();
  const std::int64_t time_ns = now_ns() - setting_.run_start_ns;
  const std::lock_guard lock(mutex_);
  if (!utilization) {
    ++failed_;
    start_ns_.reset();
    return interval_ns_;
  }
  if (start_ns_) {
    utilization->start_ns = *start_ns_;
    utilization->end_ns = time_ns;
    intervals_.push_back(*utilization);
    if (intervals_.size() >= setting_.max_intervals) merge_neighbors();
  }
  start_ns_ = time_ns;
  return interval_ns_;
}

void UtilizationSampler::merge_neighbors() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < intervals_.size(); i += 2) {
    const bool has_neighbor = i + 1 < intervals_.size();
    intervals_[kept++] = has_neighbor ? merged(intervals_[i], intervals_[i + 1]) : intervals_[i];
  }
  intervals_.resize(kept);
  added_ = (added_ + 1) / 2;
  interval_ns_ *= 2;
}

void UtilizationSampler::add_new(std::vector<event::GpuUtilization>& intervals) {
  const std::lock_guard lock(mutex_);
  append_new(intervals, intervals_, added_);
}

void UtilizationSampler::take(event::PassRecord& record) {
  const std::lock_guard lock(mutex_);
  append_range(record.gpu_utilization, std::exchange(intervals_, {}));
  added_ = 0;
  add_dropped(record.dropped_records, "kymo_cuda", std::exchange(failed_, 0),
              "readings of the GPU utilization that failed");
}

}  // namespace kymo::collect
