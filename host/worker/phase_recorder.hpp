// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "collect/collector.hpp"
#include "event/step_time.hpp"
#include "measure/status_page.hpp"
#include "worker/range_recorder.hpp"

namespace kymo::worker {

using event::PhaseTime;

/// Records the phase times of one step at a time within the timed interval: begin() and end() neither allocate nor
/// lock. Violations by the workload (an unknown, nested or unclosed phase, or one outside a step) are available from
/// violation().
class PhaseRecorder {
 public:
  PhaseRecorder(const char* const* names, std::size_t count);

  /// Sets the collectors to notify of phases and the device to synchronize with at phase boundaries (nullptr: no
  /// synchronization). `ranges` also records phases as events; nullptr in passes that do not observe events.
  void observe(std::vector<collect::Collector*> observers, collect::DeviceTimer* boundary, RangeRecorder* ranges);

  /// Timings hot and cold: before the first phase entry of the next steps, flush the device cache if `flush` and block
  /// the stream if `hold`. nullptr: neither.
  void before_entry(collect::DeviceTimer* device, bool flush, bool hold);

  /// Timings hot and cold: a step that enters a second phase is a violation, even if the workload declares it.
  void require_single_phase() { one_phase_ = true; }

  /// Sets the status page that shows the open phase to the supervisor; nullptr: none.
  void publish_to(measure::StatusPage* status_page) { status_page_ = status_page; }

  void begin_step();
  kymo_status begin(const char* name, void* stream) noexcept;
  kymo_status end() noexcept;
  /// Closes the step; an open phase is a violation if the step succeeded.
  void end_step(bool succeeded);

  const std::vector<std::string>& names() const { return names_; }
  /// Times of the last completed step, by phase.
  std::vector<PhaseTime>& times() { return times_; }
  /// The first phase entered in the step; nullptr if there was none.
  const PhaseTime* entered() const { return entered_ == kNone ? nullptr : &times_[static_cast<std::size_t>(entered_)]; }

  /// The first violation by the workload, in one line; empty if there was none.
  const std::string& violation() const { return violation_; }
  /// The current phase, or the phase in which the workload failed; empty outside phases. Main thread only.
  std::string current() const;
  /// Index of the open phase or -1. Thread-safe.
  int open() const { return open_.load(std::memory_order_relaxed); }

 private:
  static constexpr int kNone = -1;
  int find(const char* name) const;
  void set_open(int index) noexcept;
  bool is_second(int index) const;
  void wait_at_boundary();
  void prepare_stream();
  kymo_status reject(std::string violation);
  kymo_status reject_begin(const char* name);

  std::vector<std::string> names_;
  std::vector<PhaseTime> times_;
  std::vector<collect::Collector*> observers_;
  collect::DeviceTimer* boundary_ = nullptr;
  collect::DeviceTimer* prepares_ = nullptr;  // prepares the stream before the first entry
  bool flush_ = false;
  bool hold_ = false;
  RangeRecorder* ranges_ = nullptr;
  measure::StatusPage* status_page_ = nullptr;
  void* stream_ = nullptr;  // stream of the open phase
  std::atomic<int> open_{kNone};
  std::int64_t begun_ns_ = 0;
  int next_ = 0;         // phases usually occur in declaration order
  int unwound_ = kNone;  // innermost phase left by an exception
  bool in_step_ = false;
  bool one_phase_ = false;
  int entered_ = kNone;  // first phase entered in the step
  std::string violation_;
};

}  // namespace kymo::worker
