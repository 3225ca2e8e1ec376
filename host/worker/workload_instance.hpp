// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <cstdint>
#include <exception>

#include "measure/protocol.hpp"
#include "worker/control_client.hpp"
#include "worker/failure.hpp"
#include "worker/phase_recorder.hpp"
#include "worker/run_context.hpp"

namespace kymo::worker {

/// The properties of the workload's step that a timing depends on.
inline measure::StepProperties step_properties(const kymo_workload& workload) {
  return {.phases = workload.phase_count, .asynchronous = (workload.flags & KYMO_STEP_IS_ASYNCHRONOUS) != 0};
}

/// A workload in one pass: what its host services record, and the calls into its plugin. An exception thrown by the
/// plugin becomes the status of the call; an exception of kymo itself that a host service saved is rethrown after it.
class WorkloadInstance {
 public:
  WorkloadInstance(const measure::protocol::Assignment& assignment, const kymo_workload& workload,
                   ControlClient& control, std::int64_t run_start_ns);
  WorkloadInstance(const WorkloadInstance&) = delete;
  WorkloadInstance& operator=(const WorkloadInstance&) = delete;

  kymo_status create(measure::Pass pass);
  kymo_status prepare();
  /// Optional for a workload, like verify().
  kymo_status before_step();
  /// Does not rethrow saved exceptions, because it is called within the timed interval.
  kymo_status step() {
    return attempt([&] { return workload_.step(instance_, context_.handle()); });
  }
  kymo_status verify(kymo_verification& reported);
  /// Does nothing if there is no instance.
  kymo_status destroy();

  const kymo_workload& table() const { return workload_; }
  bool has_reference() const { return workload_.verify != nullptr; }
  PhaseRecorder& phases() { return phases_; }
  RunContext& context() { return context_; }

 private:
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
  template <typename Call>
  kymo_status call(Call&& into_plugin) {
    const kymo_status status = attempt(into_plugin);
    context_.rethrow_kept();
    return status;
  }
  kymo_status caught(kymo_status status, const char* what);

  const kymo_workload& workload_;
  PhaseRecorder phases_;
  RunContext context_;
  void* instance_ = nullptr;
};

}  // namespace kymo::worker
