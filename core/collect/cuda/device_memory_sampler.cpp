// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/device_memory_sampler.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/ranges.hpp"

namespace kymo::collect {
namespace {

constexpr const char* kSource = "kymo_cuda";

}  // namespace

DeviceMemorySampler::DeviceMemorySampler(Read read, const Setting& setting)
    : read_(std::move(read)), setting_(setting), interval_ns_(setting.interval_ns) {}

void DeviceMemorySampler::note(const char* moment, std::int32_t step, bool with_process) {
  const std::optional<Reading> reading = read_(with_process);
  const std::int64_t time_ns = now_ns() - setting_.run_start_ns;
  const std::lock_guard lock(mutex_);
  if (reading) {
    moments_.push_back({time_ns, moment, step, reading->used_bytes, reading->process_bytes});
  } else {
    ++failed_;
  }
}

void DeviceMemorySampler::add(event::DeviceMemory reading) {
  const std::lock_guard lock(mutex_);
  moments_.push_back(std::move(reading));
}

void DeviceMemorySampler::start_background() {
  thread_.start([this] { return sample(); });
}

void DeviceMemorySampler::stop_background() { thread_.stop(); }

std::int64_t DeviceMemorySampler::sample() {
  const std::optional<Reading> reading = read_(false);
  const std::int64_t time_ns = now_ns() - setting_.run_start_ns;
  const std::lock_guard lock(mutex_);
  if (reading) {
    const std::int32_t step =
        setting_.execution_context ? setting_.execution_context->step.load(std::memory_order_relaxed) : -1;
    background_.push_back({time_ns, "", step, reading->used_bytes, reading->process_bytes});
    if (background_.size() >= setting_.max_background) thin();
  } else {
    ++failed_;
  }
  return interval_ns_;
}

void DeviceMemorySampler::thin() {
  const std::size_t before = background_.size();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < before; i += 2) background_[kept++] = std::move(background_[i]);
  background_.resize(kept);
  added_background_ = (added_background_ + 1) / 2;
  thinned_out_ += static_cast<std::int64_t>(before - kept);
  interval_ns_ *= 2;
}

void DeviceMemorySampler::add_new(std::vector<event::DeviceMemory>& readings) {
  const std::lock_guard lock(mutex_);
  append_new(readings, moments_, added_moments_);
  append_new(readings, background_, added_background_);
}

void DeviceMemorySampler::take(event::PassRecord& record) {
  const std::lock_guard lock(mutex_);
  std::vector<event::DeviceMemory> all = std::exchange(moments_, {});
  append_range(all, background_);
  background_.clear();
  std::ranges::stable_sort(all, {}, &event::DeviceMemory::time_ns);
  auto& into = record.memory_trace.device;
  append_range(into, all);
  add_dropped(record.dropped_records, kSource, failed_, "GPU memory readings that failed");
  add_dropped(record.dropped_records, kSource, thinned_out_,
              "GPU memory readings between steps, thinned out evenly because there were more than " +
                  std::to_string(setting_.max_background));
  failed_ = 0;
  thinned_out_ = 0;
}

}  // namespace kymo::collect
