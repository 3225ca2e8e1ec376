// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "event/step_records.h"
#include "event/step_time.hpp"
#include "measure/status_page.hpp"
#include "worker/scheduling.hpp"

namespace kymo::store {
class StepJournal;
}

namespace kymo::worker {

/// Steps that an observed program times itself between two calls of the engine. They are in the journal as soon as they
/// are complete, if there is one and the disk is not full.
class StepRecords {
 public:
  /// `journal` and `status_page`: nullptr if there is none.
  StepRecords(kymo_step_records& shared, std::size_t phases, store::StepJournal* journal,
              measure::StatusPage* status_page);
  ~StepRecords() { shared_.limit = 0; }
  StepRecords(const StepRecords&) = delete;
  StepRecords& operator=(const StepRecords&) = delete;

  /// Before step(): the program may time up to `limit` steps from number `first` on, until one ends at due_ns or later.
  void prepare(std::int64_t first, std::int64_t limit, bool warmup, std::int64_t due_ns);
  /// Number of complete steps, during and after step().
  std::int64_t count() const { return shared_.count; }
  const event::StepTime& time(std::int64_t index) const { return at(index).time; }
  std::span<const event::PhaseTime> phases(std::int64_t index) const;
  /// Sets the usage of all complete steps: their mean processor time, and the switches for the last of them.
  void set_usage(const ProcessUsage& usage);
  /// After step(), and before anything else is added to the journal.
  void keep();

 private:
  std::size_t offset_of(std::int64_t index) const { return static_cast<std::size_t>(index) * shared_.record_bytes; }
  kymo_step_record& at(std::int64_t index) const;
  /// After the usage of a step was set. A reader of a process that was killed in between knows what was changed.
  void update_journal(std::int64_t index) const;

  kymo_step_records& shared_;
  std::size_t phases_;
  store::StepJournal* journal_;
  std::vector<std::int64_t> memory_;  // of the records
  std::int64_t unseen_step_ = 0;      // in place of a status page
  std::int32_t unseen_phase_ = 0;
};

}  // namespace kymo::worker
