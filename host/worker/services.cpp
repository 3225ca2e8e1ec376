// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"
#include "base/text.hpp"
#include "worker/run_context.hpp"

namespace kymo::worker {
namespace {

/// Exceptions must not cross the plugin boundary: an exception of kymo itself is saved for the engine.
template <typename Body>
void guarded(kymo_context* context, Body&& body) noexcept {
  try {
    body(*context->run);
  } catch (...) {
    context->run->keep_exception();
  }
}

const char* present(const char* text) { return or_empty(text); }
template <typename Value>
Value present(Value value) {
  return value;
}

/// The service that passes its arguments to a function of the context.
template <auto function, typename... Arguments>
void service(kymo_context* context, Arguments... arguments) {
  guarded(context, [&](RunContext& run) { (run.*function)(present(arguments)...); });
}

kymo_status parameter(kymo_context* context, const char* name, kymo_value* out) {
  return context->run->parameter(name, out);
}
const kymo_placement* placement(kymo_context* context) { return &context->run->placement(); }
std::uint64_t seed(kymo_context* context) { return context->run->seed(); }
kymo_status phase_begin(kymo_context* context, const char* name, void* stream) {
  return context->run->phases().begin(name, stream);
}
kymo_status phase_end(kymo_context* context) { return context->run->phases().end(); }

void operator_work(kymo_context* context, const char* name, const char* arguments, double flops, double bytes) {
  guarded(context, [&](RunContext& run) { run.operator_work({or_empty(name), or_empty(arguments), flops, bytes}); });
}

void metric_number(kymo_context* context, std::uint32_t level, const char* name, double value, const char* unit) {
  guarded(context, [&](RunContext& run) {
    event::Metric metric;
    metric.name = or_empty(name);
    metric.number = value;
    metric.unit = or_empty(unit);
    run.metric(level, std::move(metric));
  });
}

void metric_text(kymo_context* context, std::uint32_t level, const char* name, const char* value) {
  guarded(context, [&](RunContext& run) {
    event::Metric metric;
    metric.name = or_empty(name);
    metric.text = or_empty(value);
    run.metric(level, std::move(metric));
  });
}

void compilation(kymo_context* context, const kymo_compilation* given) {
  guarded(context, [&](RunContext& run) {
    if (given) run.compilation(*given);
  });
}

std::uint64_t collective_begin(kymo_context* context, const kymo_collective* call) {
  std::uint64_t handle = 0;
  guarded(context, [&](RunContext& run) { handle = run.collective_begin(call); });
  return handle;
}

kymo_status all_gather_bytes(kymo_context* context, const void* send, std::uint64_t bytes, void* receive) {
  kymo_status status = KYMO_FAILED;
  guarded(context, [&](RunContext& run) { status = run.all_gather_bytes(send, bytes, receive); });
  return status;
}

void log_message(kymo_context* context, std::uint32_t level, const char* message) {
  guarded(context, [&](RunContext&) {
    const log::Level as = level == KYMO_LOG_DEBUG     ? log::Level::kDebug
                          : level == KYMO_LOG_INFO    ? log::Level::kInfo
                          : level == KYMO_LOG_WARNING ? log::Level::kWarning
                                                      : log::Level::kError;
    log::write(as, or_empty(message));
  });
}

void fail(kymo_context* context, kymo_status, const char* message) {
  guarded(context, [&](RunContext& run) { run.fail(message); });
}

std::int32_t cancelled(kymo_context* context) {
  bool result = true;  // if kymo itself fails here, end the run
  guarded(context, [&](RunContext& run) { result = run.cancelled(); });
  return result ? 1 : 0;
}

kymo_host common_services() {
  kymo_host host{};
  host.size = sizeof(host);
  host.abi_major = KYMO_ABI_MAJOR;
  host.abi_minor = KYMO_ABI_MINOR;
  host.parameter = parameter;
  host.placement = placement;
  host.seed = seed;
  host.metric_number = metric_number;
  host.metric_text = metric_text;
  host.mark = service<&RunContext::mark>;
  host.all_gather_bytes = all_gather_bytes;
  host.log = log_message;
  host.skip = service<&RunContext::skip>;
  host.fail = fail;
  host.cancelled = cancelled;
  return host;
}

kymo_host timing_services() {
  kymo_host host = common_services();
  host.phase_begin = phase_begin;
  host.phase_end = phase_end;
  host.collective_begin = collective_begin;
  host.collective_end = service<&RunContext::collective_end>;
  host.work = service<&RunContext::work>;
  host.compilation = compilation;
  return host;
}

kymo_host observing_services(bool tags) {
  kymo_host host = timing_services();
  host.scope_begin = service<&RunContext::scope_begin>;
  host.scope_end = service<&RunContext::scope_end>;
  host.operator_work = operator_work;
  host.collective_needed = service<&RunContext::collective_needed>;
  if (tags) host.tag = service<&RunContext::tag>;
  return host;
}

}  // namespace

const kymo_host& services_for(measure::Pass pass) {
  static const kymo_host timing = timing_services();
  static const kymo_host untimed = common_services();
  static const kymo_host observing = observing_services(false);
  static const kymo_host observing_memory = observing_services(true);
  if (pass == measure::Pass::kVerify) return untimed;
  if (pass == measure::Pass::kMemory || pass == measure::Pass::kPredict) return observing_memory;
  return measure::observes(pass) ? observing : timing;
}

}  // namespace kymo::worker
