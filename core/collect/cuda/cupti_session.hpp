// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "collect/standpoint.hpp"
#include "event/records.hpp"
#include "measure/plan.hpp"

namespace kymo::collect {

/// Records what the GPU does, and who launched it, by CUPTI: activity records in bounded memory, a callback at each
/// launch and at each node of a graph. At most one session records at a time.
class CuptiSession {
 public:
  /// Nothing is recorded yet. `standpoint` (may be nullptr) must outlive the session. Throws Unavailable if there is no
  /// room for events.
  CuptiSession(const measure::Observation& how, const Standpoint* standpoint, std::int64_t run_start_ns);
  /// Ends recording, if it still goes on, and throws away what was recorded.
  ~CuptiSession();
  CuptiSession(const CuptiSession&) = delete;
  CuptiSession& operator=(const CuptiSession&) = delete;

  /// To be called before CUDA starts: some of what CUPTI offers works only then. Throws Unavailable with the reason,
  /// naming the other client if there is one, and leaves nothing behind.
  void start();
  /// Once CUDA has its context: compares clocks, if CUPTI could not tell the time before.
  void context_made();
  /// Touches memory that the next events will take. Outside timed stretches.
  void warm() noexcept;
  /// Waits for the device, ends recording and adds everything to `record`: events, clock comparisons, and as losses
  /// what is missing. Works after a failure of CUDA too: what was recorded until then is kept.
  void stop(event::PassRecord& record);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kymo::collect
