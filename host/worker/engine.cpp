// SPDX-License-Identifier: Apache-2.0
#include "worker/engine.hpp"

#include <algorithm>
#include <string_view>

#include "analysis/derive.hpp"
#include "base/clock.hpp"
#include "base/machine.hpp"
#include "base/text.hpp"
#include "measure/plan.hpp"
#include "measure/statistics.hpp"
#include "worker/batched_steps.hpp"
#include "worker/flushed_steps.hpp"
#include "worker/library_work.hpp"
#include "worker/observed_steps.hpp"
#include "worker/pass_progress.hpp"
#include "worker/step_loop.hpp"
#include "worker/synced_steps.hpp"
#include "worker/verification.hpp"

namespace kymo::worker {
namespace {

using measure::Pass;
using measure::RunStatus;
using measure::protocol::Assignment;

const kymo_workload* find_workload(const kymo_plugin& plugin, const std::string& name) {
  const std::uint32_t count = plugin.workload_count();
  for (std::uint32_t i = 0; i < count; ++i) {
    const kymo_workload* workload = plugin.workload(i);
    if (workload && workload->name && workload->name == name) return workload;
  }
  return nullptr;
}

/// Why this assignment cannot be executed; empty if it can.
std::string validation_error(const Assignment& assignment, const kymo_workload* workload) {
  if (!workload) return "the plugin has no workload " + quote(assignment.what.workload);
  if (!workload->create || !workload->prepare || !workload->step || !workload->destroy)
    return "the workload does not define all of create, prepare, step and destroy";
  const std::string timing_problem =
      measure::timing_error(assignment.method, assignment.what, step_properties(*workload));
  if (!timing_problem.empty()) return timing_problem;
  if (assignment.pass == Pass::kCounters)
    if (const std::string reason = measure::counting_error(assignment.method, assignment.what); !reason.empty())
      return reason;
  // Any program may use the protocol: reject step counts that overflow or can never be reached, instead of returning a
  // run without samples.
  const auto& method = assignment.method;
  if (method.warmup < 0 || method.warmup > measure::kMaxSteps ||
      (!method.until && (method.steps < 1 || method.steps > measure::kMaxSteps)))
    return "invalid step counts: " + std::to_string(method.warmup) + " warm-up steps and " +
           std::to_string(method.steps) + " steps; allowed are 0 to 10^12 warm-up steps and 1 to 10^12 steps";
  for (std::uint32_t i = 0; i < workload->phase_count; ++i) {
    const std::string_view phase = workload->phases[i];
    const auto end = workload->phases + i;
    if (phase == event::kWholeStep || phase == event::kOtherPhase)
      return "the workload declares a phase " + quote(phase) + "; that name is reserved";
    if (std::find(workload->phases, end, phase) != end)
      return "the workload declares the phase " + quote(phase) + " twice";
  }
  return "";
}

class Engine {
 public:
  Engine(const Assignment& assignment, const kymo_plugin& plugin, const kymo_workload& workload,
         const Observers& observers, ControlClient& control, const PassStart& start)
      : assignment_(assignment),
        run_start_ns_(start.run_start_ns),
        uses_torch_(plugin.framework && std::string_view(plugin.framework) == "libtorch"),
        observers_(observers),
        control_(control),
        workload_(assignment, workload, control, start.run_start_ns),
        progress_(workload_, control, assignment.what.device),
        driver_(make_driver(start)) {
    for (const PassStart::Stage& stage : start.stages) workload_.context().mark_at(stage.name, stage.end_ns);
  }

  PassResult run() {
    try {
      make_stages();
    } catch (const ConnectionLost&) {
      throw;
    } catch (const std::exception& error) {
      // An asynchronous device error between two calls, or an error of kymo itself: end the pass and keep the
      // measurements.
      progress_.end(RunStatus::kFailed, error.what());
    }
    finish();
    return {progress_.outcome(), std::move(record_)};
  }

 private:
  std::unique_ptr<StepDriver> make_driver(const PassStart& start) {
    switch (assignment_.method.timing) {
      case measure::Timing::kHot:
        return std::make_unique<BatchedSteps>(assignment_, workload_, progress_, armed_);
      case measure::Timing::kCold:
        return std::make_unique<FlushedSteps>(assignment_, workload_, progress_, armed_);
      case measure::Timing::kFree:
        return std::make_unique<ObservedSteps>(assignment_, workload_, progress_, armed_, start.journal,
                                               start.step_records);
      case measure::Timing::kSync:
        break;
    }
    return std::make_unique<SyncedSteps>(assignment_, workload_, progress_, armed_);
  }

  bool make_stages() {
    if (!arm() || !compare_clocks() || !create() || !prepare()) return false;
    if (assignment_.pass == Pass::kVerify) return verify();
    steps_.emplace(assignment_, run_start_ns_, armed_, workload_, progress_, *driver_);
    return steps_->run() && compare_clocks();
  }

  /// Each rank has its own clock. Events of different ranks are compared through the supervisor's clock.
  bool compare_clocks() {
    if (measure::processes_of(assignment_.pass, assignment_.what.ranks) == 1 ||
        !measure::records_events(assignment_.pass))
      return true;
    const auto sync = compare_with_supervisor(control_, run_start_ns_);
    if (sync) record_.trace.clock_syncs.push_back(*sync);
    return sync ? true : progress_.end(RunStatus::kInterrupted, "the run was cancelled");
  }

  bool arm() {
    collect::PassSetting setting{
        .pass = assignment_.pass,
        .device = assignment_.what.device,
        .device_index = workload_.context().placement().device_index,
        .warmup = assignment_.method.warmup,
        .run_start_ns = run_start_ns_,
        .uses_torch = uses_torch_,
        .execution_context = workload_.context().ranges() ? &RangeRecorder::execution_context() : nullptr,
        .observation = assignment_.method.observation,
        .counter_ranges = assignment_.method.counter_ranges,
        .stacks = assignment_.method.stacks,
        .phases = workload_.phases().names()};
    driver_->configure(setting);
    record_.dropped_records = observers_.dropped_records;
    record_.warnings = observers_.warnings;
    if (setting.pass == Pass::kCounters && setting.device != measure::DeviceKind::kCuda)
      record_.dropped_records.push_back(
          {"hardware counters", -1, "kymo reads those of NVIDIA GPUs only; use --device cuda"});
    for (const Observer& observer : observers_.all) {
      try {
        observer.collector->arm(setting);
      } catch (const collect::Unavailable& reason) {
        record_.dropped_records.push_back({observer.collector->name(), -1, first_line(reason.what())});
        continue;
      }
      armed_.all.push_back(observer.collector);
      if (observer.timer) armed_.timer = observer.timer;
    }
    workload_.context().observe(armed_.all);
    if (assignment_.pass == Pass::kPredict && !uses_torch_)
      return progress_.end(RunStatus::kFailed, "only the memory of a workload with LibTorch can be predicted");
    // Without a timer nothing synchronizes with the GPU, and host times would only cover the launches.
    const bool is_timed = setting.pass != Pass::kVerify && setting.pass != Pass::kPredict;
    if (setting.device == measure::DeviceKind::kCuda && is_timed && !armed_.timer) {
      const std::string reason = record_.dropped_records.empty() ? "no collector provides a device timer"
                                                                 : record_.dropped_records.front().detail;
      return progress_.end(RunStatus::kFailed, "steps on a GPU cannot be timed: " + reason);
    }
    workload_.context().mark("worker: collectors armed");
    return true;
  }

  bool create() {
    progress_.announce("create");
    return stage_ended(workload_.create(assignment_.pass), "worker: created");
  }

  bool prepare() {
    progress_.announce("prepare");
    return stage_ended(workload_.prepare(), "worker: prepared") && progress_.should_continue();
  }

  /// Adds a mark at the end of each successful stage, so that the time before the first step is recorded too.
  bool stage_ended(kymo_status status, const char* mark) {
    if (!progress_.check_call(status)) return false;
    workload_.context().mark(mark);
    return true;
  }

  bool verify() {
    progress_.announce("verify");
    if (!workload_.has_reference()) return unverified("the workload has no reference to compare with");
    kymo_verification reported{};
    reported.size = sizeof(reported);
    if (!progress_.check_call(workload_.verify(reported))) {
      // A reference that runs out of memory says nothing about the workload: the result is `unavailable` with this
      // reason.
      return progress_.outcome().status == RunStatus::kOom
                 ? unverified("the reference does not fit in memory: " + progress_.outcome().detail)
                 : false;
    }
    record_.checks = checks_of(reported);
    const measure::Outcome result = summarize_checks(record_.checks);
    progress_.set_outcome(result);
    return result.status == RunStatus::kOk || progress_.end(RunStatus::kFailed, result.detail);
  }

  bool unverified(const std::string& reason) {
    event::Check check;
    check.name = "reference";
    check.detail = first_line(reason);
    progress_.set_outcome({RunStatus::kOk, check.detail, event::CheckOutcome::kUnavailable});
    record_.checks = {check};
    return true;
  }

  void finish() {
    const bool predicts = assignment_.pass == Pass::kPredict;
    if (steps_) record_.samples = steps_->log().samples();
    record_.out_of_memory = progress_.outcome().out_of_memory;
    for (auto collector = armed_.all.rbegin(); collector != armed_.all.rend(); ++collector) disarm(**collector);
    const kymo_status destroyed = workload_.destroy();
    if (destroyed != KYMO_OK && progress_.outcome().status == RunStatus::kOk) progress_.check_call(destroyed);
    workload_.context().collect(record_);
    if (steps_ && !predicts) steps_->add_records(record_);
    if (measure::records_events(assignment_.pass)) derive();
    if (predicts) keep_prediction();
    record_.memory.resident_bytes = peak_resident_bytes();
    measure::mark_throttled(record_.samples, record_.gpu_samples);
    if (steps_) steps_->exclude_suspended(record_);
  }

  /// Nothing was computed: times and events say nothing about the workload, and neither does the memory of a step that
  /// failed.
  void keep_prediction() {
    event::Derived prediction;
    if (progress_.outcome().status == RunStatus::kOk) {
      prediction.memory_parts = std::move(record_.derived.memory_parts);
      prediction.kept_tensors = std::move(record_.derived.kept_tensors);
      prediction.scope_paths = std::move(record_.derived.scope_paths);
    }
    record_.derived = std::move(prediction);
    record_.samples.clear();
    event::Texts texts = std::move(record_.trace.texts);
    record_.trace = {};
    record_.trace.texts = std::move(texts);
    record_.memory_trace = {};
  }

  /// Data that cannot be analyzed is still stored.
  void derive() {
    try {
      const std::string& patterns = assignment_.method.observation.kernel_classes;
      const auto classifier = patterns.empty() ? analysis::Classifier() : analysis::Classifier::with_file(patterns);
      LibraryWork library_work;
      for (const event::Operator& call : record_.trace.operators)
        library_work.add(record_.trace.texts, call, record_.library_op_work);
      const bool on_host = assignment_.what.device == measure::DeviceKind::kCpu;
      analysis::derive(record_, {.warmup = assignment_.method.warmup, .classifier = &classifier, .on_host = on_host});
    } catch (const std::exception& error) {
      record_.dropped_records.push_back({"analysis", -1, first_line(error.what())});
    }
  }

  void disarm(collect::Collector& collector) {
    try {
      collector.disarm(record_);
    } catch (const std::exception& error) {
      record_.dropped_records.push_back({collector.name(), -1, first_line(error.what())});
    }
  }

  const Assignment& assignment_;
  std::int64_t run_start_ns_;
  bool uses_torch_;
  const Observers& observers_;
  ControlClient& control_;
  WorkloadInstance workload_;
  PassProgress progress_;
  ArmedCollectors armed_;
  std::unique_ptr<StepDriver> driver_;
  std::optional<StepLoop> steps_;
  event::PassRecord record_;
};

}  // namespace

PassResult run_pass(const Assignment& assignment, const kymo_plugin& plugin, const Observers& observers,
                    ControlClient& control, const PassStart& start) {
  const kymo_workload* workload = find_workload(plugin, assignment.what.workload);
  const std::string problem = validation_error(assignment, workload);
  if (!problem.empty())
    return {{.status = RunStatus::kFailed, .detail = first_line(problem), .stage = "load", .failed_ns = now_ns()}, {}};
  return Engine(assignment, plugin, *workload, observers, control, start).run();
}

}  // namespace kymo::worker
