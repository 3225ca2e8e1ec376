// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "collect/collector.hpp"

namespace kymo::worker {

/// A collector and device timer that records all calls. Each phase entry takes 100 ns on its device, the whole step, or
/// batch of steps, 1000.
class FakeCollector final : public collect::Collector, public collect::DeviceTimer {
 public:
  explicit FakeCollector(std::vector<std::string>* log = nullptr) : log_(log) {}

  std::string name() const override { return "fake"; }
  void arm(const collect::PassSetting& setting) override {
    note("arm");
    setting_ = setting;
    if (!unavailable.empty()) throw collect::Unavailable(unavailable);
  }
  void before_steps() override { note("before_steps"); }
  void step_begin(std::int64_t) override {
    note("step_begin");
    entries_.clear();
    held_ = false;
  }
  void phase_begin(std::size_t phase, void*) override {
    note("phase_begin");
    entries_.push_back(phase);
  }
  void phase_end() override { note("phase_end"); }
  void between_steps(std::int64_t) override { note("between_steps"); }
  void reset() override { note("reset"); }
  void disarm(event::PassRecord& record) override {
    note("disarm");
    record.gpu_samples = readings;
    if (record.out_of_memory) record.out_of_memory->requested_bytes = 4096;
    if (!disarm_error.empty()) throw std::runtime_error(disarm_error);
  }

  void synchronize() override {
    note("synchronize");
    if (on_synchronize) on_synchronize();
    if (++synchronisations_ == fail_at_synchronisation) throw std::runtime_error("CUDA error: illegal address");
  }
  bool is_capturing(void*) override { return capturing; }
  void take_step(std::vector<std::int64_t>& phase_ns, std::int64_t& whole_step_ns) override {
    std::fill(phase_ns.begin(), phase_ns.end(), -1);
    for (const std::size_t phase : entries_) phase_ns[phase] = std::max<std::int64_t>(phase_ns[phase], 0) + 100;
    whole_step_ns = step_ns;
  }
  void begin_batch() override { note("begin_batch"); }
  void end_batch() override { note("end_batch"); }
  void flush(void*) override { note("flush"); }
  void block(void*) override {
    note("block");
    held_ = true;
  }
  bool release() override {
    note("release");
    return !(std::exchange(held_, false) && times_out);
  }

  const collect::PassSetting& setting() const { return setting_; }

  std::string unavailable;
  std::string disarm_error;
  std::function<void()> on_synchronize;
  std::vector<event::GpuSample> readings;
  std::int64_t fail_at_synchronisation = -1;
  std::int64_t step_ns = 1000;
  bool capturing = false;
  bool times_out = false;  // for the blocked stream

 private:
  void note(const char* what) {
    if (log_) log_->emplace_back(what);
  }

  std::vector<std::string>* log_;
  collect::PassSetting setting_;
  std::vector<std::size_t> entries_;
  std::int64_t synchronisations_ = 0;
  bool held_ = false;
};

}  // namespace kymo::worker
