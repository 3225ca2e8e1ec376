// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collect/collector.hpp"
#include "event/records.hpp"
#include "measure/protocol.hpp"
#include "worker/control_client.hpp"
#include "worker/failure.hpp"
#include "worker/phase_recorder.hpp"
#include "worker/run_context.hpp"

namespace kymo::worker {

/// One pass under way: what its stages share, and how it ended. Stages return false once it has ended.
class PassRun {
 public:
  PassRun(const measure::protocol::Assignment& assignment, const kymo_workload& workload, ControlClient& control,
          std::int64_t run_start_ns);
  PassRun(const PassRun&) = delete;
  PassRun& operator=(const PassRun&) = delete;

  /// Tells the supervisor that a stage or step begins: at once for a new stage, else at most some 20 times a second.
  void announce(const char* stage, std::int64_t step = -1, std::int64_t steps = 0);

  /// Calls into the plugin: an exception that it lets through becomes a status; one of the tool's own that a service
  /// kept is thrown again.
  template <typename Call>
  kymo_status call(Call&& into_plugin) {
    const kymo_status status = attempt(into_plugin);
    context.rethrow_kept();
    return status;
  }

  /// The same without looking for a kept exception: for the timed stretch.
  template <typename Call>
  kymo_status attempt(Call&& into_plugin) {
    try {
      return into_plugin();
    } catch (const std::exception& error) {
      return caught(status_of(error), error.what());
    } catch (...) {
      return caught(KYMO_FAILED, "something that is no std::exception");
    }
  }

  /// Judges what a call returned in the stage and step announced last; false if the pass has ended.
  bool judge_call(kymo_status status);
  /// Ends the pass.
  bool end(const std::string& status, const std::string& detail);
  /// Ends the pass if the supervisor has cancelled the run; false then.
  bool go_on();

  const measure::protocol::Assignment& assignment;
  const kymo_workload& workload;
  ControlClient& control;
  std::int64_t run_start_ns;
  PhaseRecorder phases;
  RunContext context;
  std::vector<collect::Collector*> armed;
  collect::DeviceTimer* timer = nullptr;
  void* instance = nullptr;
  measure::protocol::Outcome outcome;
  std::int64_t failed_ns = -1;  ///< host clock: when end() was called first
  std::optional<event::OutOfMemory> out_of_memory;

 private:
  kymo_status caught(kymo_status status, const char* what);

  const char* stage_ = "load";
  std::int64_t step_ = -1;
  std::int64_t next_beat_ns_ = 0;
};

}  // namespace kymo::worker
