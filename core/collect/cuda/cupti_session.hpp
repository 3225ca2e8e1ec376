// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "collect/execution_context.hpp"
#include "event/records.hpp"
#include "measure/plan.hpp"

namespace kymo::collect {

/// Records GPU activity and launches with CUPTI: activity records in bounded memory, and a callback for each launch and
/// graph node. At most one session records at a time.
class CuptiSession {
 public:
  /// Does not start recording. `execution_context` (may be nullptr) must outlive the session. `early`: add_new() is
  /// used; CUPTI gets smaller buffers, so that it delivers them sooner. Throws Unavailable if memory for events is not
  /// available.
  CuptiSession(const measure::Observation& options, const ExecutionContext* execution_context,
               std::int64_t run_start_ns, bool early);
  /// Stops recording if necessary and discards unclaimed records.
  ~CuptiSession();
  CuptiSession(const CuptiSession&) = delete;
  CuptiSession& operator=(const CuptiSession&) = delete;

  /// Starts recording. Call it before CUDA is initialized, because some CUPTI features require it. Throws Unavailable
  /// with the reason, including the name of another CUPTI client, and undoes everything on failure.
  void start();
  /// Call it when CUDA has created its context. Compares the clocks if CUPTI provided no timestamps before, and lets
  /// the device begin CUDA graphs only when their launch has returned.
  void context_made();
  /// Prefaults memory for the next events. Call it outside of timed regions.
  void warm() noexcept;
  /// Adds the events since the last call that CUPTI has delivered. Always pass the same object. stop() adds all events
  /// again.
  void add_new(event::NewEvents& events);
  /// Synchronizes the device, stops recording and adds all events, clock comparisons and dropped-record counts to
  /// `record`. After a CUDA error, the events up to that point are kept.
  void stop(event::PassRecord& record);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kymo::collect
