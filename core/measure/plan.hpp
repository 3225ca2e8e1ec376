// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "base/enum_names.hpp"
#include "base/json.hpp"
#include "measure/json_field.hpp"

namespace kymo::measure {

/// Value of a parameter. A choice is stored as a string.
using Value = std::variant<bool, std::int64_t, double, std::string>;
using Parameters = std::map<std::string, Value>;

std::string to_text(const Value& value);

using kymo::to_string;  // so that it is found by argument-dependent lookup

enum class DeviceKind { kCpu, kCuda };
constexpr auto names_of(DeviceKind) {
  return enum_names<DeviceKind>("device", {{DeviceKind::kCpu, "cpu"}, {DeviceKind::kCuda, "cuda"}});
}

enum class Pass { kTime, kVerify, kMemory, kTrace, kOps, kCounters, kPredict };
constexpr auto names_of(Pass) {
  using enum Pass;
  return enum_names<Pass>("pass", {{kTime, "time"},
                                   {kVerify, "verify"},
                                   {kMemory, "memory"},
                                   {kTrace, "trace"},
                                   {kOps, "ops"},
                                   {kCounters, "counters"},
                                   {kPredict, "predict"}});
}

enum class Sync { kStep, kPhase };
constexpr auto names_of(Sync) {
  return enum_names<Sync>("synchronization", {{Sync::kStep, "step"}, {Sync::kPhase, "phase"}});
}

/// What the counters pass counts apart. The begin and the end of a range wait for the device, about 1 ms together.
enum class CounterRanges { kPhase, kScope, kKernel };
constexpr auto names_of(CounterRanges) {
  using enum CounterRanges;
  return enum_names<CounterRanges>("counter ranges", {{kPhase, "phase"}, {kScope, "scope"}, {kKernel, "kernel"}});
}

/// Which call stacks the trace and ops passes record.
enum class Stacks { kNone, kPython };
constexpr auto names_of(Stacks) {
  return enum_names<Stacks>("stacks", {{Stacks::kNone, "none"}, {Stacks::kPython, "python"}});
}

/// How the steps of the time pass are placed between clock readings; free also applies to the observing passes.
enum class Timing {
  kSync,  ///< each step ends with a synchronization
  kHot,   ///< several steps between two events; the stream is blocked until they are queued
  kCold,  ///< caches are flushed before each step; the stream is blocked until the step's work is queued
  kFree,  ///< of an observed program: from one step boundary to the next, without synchronization or barrier
};
constexpr auto names_of(Timing) {
  using enum Timing;
  return enum_names<Timing>("timing", {{kSync, "sync"}, {kHot, "hot"}, {kCold, "cold"}, {kFree, "free"}});
}

/// A workload with a value for every parameter.
struct Case {
  std::string plugin_file;  ///< absolute path
  std::string plugin_sha256;
  std::map<std::string, std::string>
      plugin_libraries;  ///< SHA-256 by file name of the libraries in the plugin's directory that are loaded with it
  std::string plugin_interpreter;  ///< absolute path of the program that runs the plugin file; empty: a shared library
  std::string workload;
  Parameters parameters;  ///< every declared parameter, including defaults
  int ranks = 1;
  DeviceKind device = DeviceKind::kCpu;

  static auto fields(auto& m) {
    return std::forward_as_tuple("workload", m.workload, "parameters", m.parameters, "ranks", m.ranks, "device",
                                 m.device, "plugin_file", m.plugin_file, "plugin_sha256", m.plugin_sha256,
                                 "plugin_libraries", m.plugin_libraries, "plugin_interpreter", m.plugin_interpreter);
  }
};

/// Decides after how many samples a measurement ends: when it is long enough and, if requested, its mean is precise
/// enough. It gives up after a number of samples or a time.
struct StoppingRule {
  std::optional<double> relative_standard_error;  ///< of the mean; empty: any precision is enough
  std::int64_t min_samples = 10;
  std::int64_t max_samples = 10'000;  ///< takes precedence over the minima
  double min_seconds = 0.5;           ///< of measured steps
  double max_seconds = 60;            ///< since the end of the warm-up; min_samples takes precedence

  static auto fields(auto& m) {
    return std::forward_as_tuple("relative_standard_error", m.relative_standard_error, "min_samples", m.min_samples,
                                 "max_samples", m.max_samples, "min_seconds", m.min_seconds, "max_seconds",
                                 m.max_seconds);
  }
};

/// Returns the rule's minima, such as "0.5 s" or "0.5 s, 1 %".
std::string to_text(const StoppingRule& rule);

/// Settings of the memory, trace, ops and counters passes.
struct Observation {
  std::int64_t warmup = 3;  ///< maximum number of warm-up steps; the time pass may have fewer
  std::int64_t steps = 5;   ///< maximum number of observed steps; the time pass may have fewer
  bool memsets = false;     ///< record memsets
  bool synchronization = false;
  bool overhead_records = false;                        ///< record CUPTI overhead
  bool api_calls = false;                               ///< record all CUDA API calls; slow
  bool shapes = false;                                  ///< record operator input shapes
  bool stacks = true;                                   ///< record the call stacks of allocations
  std::string kernel_classes;                           ///< file of user-defined kernel class patterns, or empty
  std::int64_t memory_bytes = std::int64_t{512} << 20;  ///< bound on the memory of buffered events in a worker

  static auto fields(auto& m) {
    return std::forward_as_tuple("warmup", m.warmup, "steps", m.steps, "memsets", m.memsets, "synchronization",
                                 m.synchronization, "overhead_records", m.overhead_records, "api_calls", m.api_calls,
                                 "shapes", m.shapes, "stacks", m.stacks, "memory_bytes", m.memory_bytes,
                                 "kernel_classes", m.kernel_classes);
  }
};

/// Maximum number of steps of each kind per run: far more than practical, and small enough that sums cannot overflow.
inline constexpr std::int64_t kMaxSteps = 1'000'000'000'000;

/// Measurement settings of a case. measure/settings.hpp describes them.
struct Method {
  std::int64_t warmup = 5;
  std::int64_t steps = 10;
  std::optional<StoppingRule> until;  ///< replaces `steps`
  Sync sync = Sync::kStep;
  Timing timing = Timing::kSync;  ///< of the time pass
  std::vector<Pass> passes{Pass::kVerify, Pass::kTime};
  std::uint64_t seed = 0;
  double timeout_s = 600;              ///< a worker without progress for this long ends with status `timeout`
  double max_pass_time_s = 0;          ///< a run is skipped if the steps of a pass would take longer; 0 means no limit
  std::int64_t host_memory_bytes = 0;  ///< limit on a worker's resident set size; 0 means no limit
  bool fresh = false;                  ///< start a new process for every time pass
  std::string wrap;                    ///< command that wraps the worker, split at spaces
  CounterRanges counter_ranges = CounterRanges::kPhase;
  Stacks stacks = Stacks::kNone;
  Observation observation;
};

/// Largest number of steps that the time pass of an observed program measures, and its default: those until it ends.
inline constexpr std::int64_t kMaxFreeSteps = 10'000;

/// Parameter of a run that is one window of an observed program: the steps of the window, such as "100:110".
inline constexpr const char* kWindowParameter = "steps";

/// Returns true if the pass observes what happens in some steps, and is not used for their times: memory, trace, ops,
/// counters and predict.
inline bool observes(Pass pass) { return pass != Pass::kTime && pass != Pass::kVerify; }

/// Returns true if the pass records events: memory, trace, ops and predict.
inline bool records_events(Pass pass) { return observes(pass) && pass != Pass::kCounters; }

/// Number of processes of a pass: memory is predicted for rank 0 only, whose shares are the largest.
inline int processes_of(Pass pass, int ranks) { return pass == Pass::kPredict ? 1 : ranks; }

/// Number of steps of a pass including warm-up; 0 if a stopping rule decides.
inline std::int64_t planned_steps(const Method& method) { return method.until ? 0 : method.warmup + method.steps; }

/// Returns the method of one pass. The memory, trace, ops and counters passes run fewer steps and ignore stopping
/// rules.
Method method_in(const Method& method, Pass pass);

/// Properties of a workload that a timing depends on.
struct StepProperties {
  std::size_t phases = 0;  ///< number of declared phases; the phases that a step enters are known only at run time
  bool asynchronous = false;
};

/// Returns a one-line reason why the case cannot be timed with the method's timing, or an empty string if it can.
std::string timing_error(const Method& method, const Case& what, const StepProperties& step);

/// Returns a one-line reason why the hardware events of the case cannot be counted in the method's ranges, or an empty
/// string if they can.
std::string counting_error(const Method& method, const Case& what);

void to_json(Json& json, const Method& method);
void from_json(const Json& json, Method& method);

}  // namespace kymo::measure

template <>
struct nlohmann::adl_serializer<kymo::measure::Value> {
  static void to_json(kymo::Json& json, const kymo::measure::Value& value);
  static void from_json(const kymo::Json& json, kymo::measure::Value& value);
};
