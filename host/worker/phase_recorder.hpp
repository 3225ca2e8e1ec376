// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "collect/collector.hpp"
#include "measure/worker_place.hpp"
#include "worker/range_recorder.hpp"

namespace kymo::worker {

/// One phase of one step; times in ns, start_ns on the host clock.
struct PhaseTime {
  std::int64_t calls = 0;
  std::int64_t start_ns = 0;
  std::int64_t host_ns = 0;
  std::int64_t device_ns = -1;  ///< -1 where nothing was recorded
};

/// Takes the times of the phases of one step after the other, inside the timed stretch: begin() and end() neither
/// allocate nor lock. What a lying workload does (an unknown phase, nested ones, one outside of a step, one left open)
/// becomes the violation.
class PhaseRecorder {
 public:
  PhaseRecorder(const char* const* names, std::size_t count);

  /// Who is told of phases, and the device to wait for at their boundaries (nullptr: do not wait).
  /// `ranges` keeps phases as events too; nullptr in passes that observe none.
  void observe(std::vector<collect::Collector*> observers, collect::DeviceTimer* boundary, RangeRecorder* ranges);

  /// Modes hot and cold: before the first entry of the next steps the device's cache is flushed if `flush`, and the
  /// stream held if `hold`. nullptr: neither.
  void before_entry(collect::DeviceTimer* device, bool flush, bool hold);

  /// Modes hot and cold: a step that enters a second phase is a violation, whatever the workload declares.
  void admit_one_phase() { one_phase_ = true; }

  /// Where the supervisor sees the open phase; nullptr: nowhere.
  void show_in(measure::WorkerPlace* place) { place_ = place; }

  void begin_step();
  kymo_status begin(const char* name, void* stream) noexcept;
  kymo_status end() noexcept;
  /// Closes the step; a phase left open is a violation if the step says that it went well.
  void end_step(bool went_well);

  const std::vector<std::string>& names() const { return names_; }
  /// Of the step that ended last, by phase.
  std::vector<PhaseTime>& times() { return times_; }
  /// The phase that the step entered first; nullptr if it entered none.
  const PhaseTime* entered() const { return entered_ == kNone ? nullptr : &times_[static_cast<std::size_t>(entered_)]; }

  /// The first thing the workload did wrong, in one line; empty if nothing.
  const std::string& violation() const { return violation_; }
  /// The phase the workload is in, or was in when it failed; empty outside of phases. Main thread.
  std::string current() const;
  /// Index of the open phase or -1. Any thread.
  int open() const { return open_.load(std::memory_order_relaxed); }

 private:
  static constexpr int kNone = -1;
  int find(const char* name) const;
  void set_open(int index) noexcept;
  bool is_second(int index) const;
  void wait_at_boundary();
  void prepare_stream();
  kymo_status refuse(std::string violation);
  kymo_status refuse_begin(const char* name);

  std::vector<std::string> names_;
  std::vector<PhaseTime> times_;
  std::vector<collect::Collector*> observers_;
  collect::DeviceTimer* boundary_ = nullptr;
  collect::DeviceTimer* prepares_ = nullptr;  // the stream, before the first entry
  bool flush_ = false;
  bool hold_ = false;
  RangeRecorder* ranges_ = nullptr;
  measure::WorkerPlace* place_ = nullptr;
  void* stream_ = nullptr;  // of the open phase
  std::atomic<int> open_{kNone};
  std::int64_t begun_ns_ = 0;
  int next_ = 0;         // phases mostly come in their declared order
  int unwound_ = kNone;  // phase that an exception left
  bool in_step_ = false;
  bool one_phase_ = false;
  int entered_ = kNone;  // phase that the step entered first
  std::string violation_;
};

}  // namespace kymo::worker
