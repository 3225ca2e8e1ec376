// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <cstdint>
#include <string>
#include <vector>

#include "collect/collector.hpp"
#include "measure/protocol.hpp"
#include "worker/control_client.hpp"
#include "worker/failure.hpp"
#include "worker/phase_recorder.hpp"
#include "worker/run_context.hpp"

namespace kymo::worker {

/// A pass in progress: state shared by its stages, and its outcome. Stages return false once the pass has ended.
class PassRun {
 public:
  PassRun(const measure::protocol::Assignment& assignment, const kymo_workload& workload, ControlClient& control,
          std::int64_t run_start_ns);
  PassRun(const PassRun&) = delete;
  PassRun& operator=(const PassRun&) = delete;

  /// Tells the supervisor that a stage or step begins: immediately for a new stage, otherwise at most about 20 times
  /// per second.
  void announce(const char* stage, std::int64_t step = -1, std::int64_t steps = 0);

  /// Calls into the plugin. An exception thrown by the plugin becomes a status; an exception of kymo itself that a host
  /// service saved is rethrown.
  template <typename Call>
  kymo_status call(Call&& into_plugin) {
    const kymo_status status = attempt(into_plugin);
    context.rethrow_kept();
    return status;
  }

  /// The same without rethrowing saved exceptions; used within the timed interval.
  template <typename Call>
  kymo_status attempt(Call&& into_plugin) {
    try {
      return into_plugin();
    } catch (const std::exception& error) {
      return caught(status_of(error), error.what());
    } catch (...) {
      return caught(KYMO_FAILED, "an exception that is not a std::exception");
    }
  }

  /// Evaluates the status returned by a call in the most recently announced stage and step; false if the pass has
  /// ended.
  bool check_call(kymo_status status);
  /// Ends the pass.
  bool end(measure::RunStatus status, const std::string& detail);
  /// Ends the pass and returns false if the supervisor has cancelled the run.
  bool should_continue();

  const measure::protocol::Assignment& assignment;
  const kymo_workload& workload;
  ControlClient& control;
  std::int64_t run_start_ns;
  PhaseRecorder phases;
  RunContext context;
  std::vector<collect::Collector*> armed;
  collect::DeviceTimer* timer = nullptr;
  void* instance = nullptr;
  measure::Outcome outcome;

 private:
  kymo_status caught(kymo_status status, const char* what);

  const char* stage_ = "load";
  std::int64_t step_ = -1;
  std::int64_t next_beat_ns_ = 0;
};

}  // namespace kymo::worker
