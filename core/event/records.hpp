// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "event/derived.hpp"
#include "event/memory.hpp"
#include "event/trace.hpp"

/// What a worker observed in one pass: plain records, free of SQL and of CUDA types.
namespace kymo::event {

/// The name under which the whole step, and what its phases leave out, are stored as phases.
inline constexpr const char* kWholeStep = "step";
inline constexpr const char* kOtherPhase = "other";

/// Time of one phase (or of the whole step) in one step.
struct Sample {
  std::int64_t step = 0;  ///< counts from 0, warm-up steps included
  std::string phase;
  bool warmup = false;
  bool throttled = false;     ///< the GPU was slowed down during the step; set after the pass (measure/throttle.hpp)
  std::int64_t calls = 1;     ///< how often the phase was entered in the step
  std::int64_t start_ns = 0;  ///< host clock, relative to the start of the run
  std::int64_t host_ns = 0;   ///< elapsed on the host clock
  std::optional<std::int64_t> device_ns;  ///< elapsed between events on the phase's stream
};

enum class MetricLevel { kRun, kStep, kPhase };

/// A figure that the workload reported itself; either number or text is set.
struct Metric {
  MetricLevel level = MetricLevel::kRun;
  std::int64_t step = -1;  ///< -1 for per-run metrics
  std::string phase;       ///< empty unless per phase
  std::string name;
  std::optional<double> number;
  std::string text;
  std::string unit;
};

/// What one step's phase does, by count.
struct Work {
  std::string phase;
  double flops = 0;
  double bytes = 0;
};

enum class CheckOutcome { kPassed, kFailed, kUnavailable };

/// One comparison with a reference.
struct Check {
  std::string name;
  CheckOutcome outcome = CheckOutcome::kUnavailable;
  std::optional<double> max_abs_error;
  std::optional<double> max_rel_error;
  std::optional<double> tolerance;
  std::string reference;
  std::string detail;
};

/// One reading of the GPU beside a step.
struct GpuSample {
  std::int64_t step = 0;
  std::int64_t time_ns = 0;  ///< host clock, relative to the start of the run
  std::optional<std::int64_t> sm_clock_mhz;
  std::optional<std::int64_t> memory_clock_mhz;
  std::optional<std::int64_t> power_mw;
  std::optional<std::int64_t> temperature_c;
  std::int64_t throttle_reasons = 0;  ///< NVML's bit mask
};

/// Peaks of the pass; absent where nothing measured them.
struct MemoryPeak {
  std::optional<std::int64_t> resident_bytes;   ///< of the process on the host
  std::optional<std::int64_t> allocated_bytes;  ///< of the caching allocator
  std::optional<std::int64_t> reserved_bytes;
};

/// A request for memory that could not be met.
struct OutOfMemory {
  std::string where;  ///< "host" or "device"
  std::optional<std::int64_t> requested_bytes;
  std::optional<std::int64_t> free_bytes;
  std::optional<std::int64_t> peak_bytes;
};

/// Facts known to be missing.
struct Loss {
  std::string source;
  std::int64_t count = 0;  ///< -1 if unknown
  std::string detail;
};

/// One reading of LibTorch's caching allocator on the GPU.
struct MemoryCounter {
  std::int64_t step = -1;               ///< step it was taken after; -1 before the first
  std::int64_t time_ns = 0;             ///< host clock, relative to the start of the run
  std::int64_t allocated_bytes = 0;     ///< handed out
  std::int64_t reserved_bytes = 0;      ///< held
  std::int64_t device_allocations = 0;  ///< requests to the driver for memory, since the pass began
};

/// A named moment that the workload marked, or the end of one of the worker's own stages ("worker: ...").
struct Mark {
  std::string name;
  std::int64_t time_ns = 0;
  std::int64_t step = -1;
};

/// The device a worker used.
struct Device {
  std::string uuid;  ///< of the GPU; for a CPU a hash of its model and core count
  std::string kind;  ///< "cpu" or "cuda"
  std::string name;
  std::int64_t memory_bytes = 0;
  std::optional<std::int64_t> multiprocessors;
  std::optional<std::int64_t> max_sm_clock_mhz;
  std::optional<std::int64_t> max_memory_clock_mhz;
  std::int64_t index = 0;
};

/// All that one pass of one rank hands to the store.
struct PassRecord {
  std::vector<Sample> samples;
  std::vector<Metric> metrics;
  std::vector<Work> work;
  std::vector<Check> checks;
  std::vector<GpuSample> gpu_samples;
  std::vector<MemoryCounter> memory_counters;
  std::vector<Mark> marks;
  std::vector<Loss> losses;
  MemoryPeak memory;
  std::optional<OutOfMemory> out_of_memory;
  Device device;
  /// "events only" if kernels could not be recorded although the pass asks for it; a loss says why.
  std::string observation;
  Trace trace;          ///< passes trace and ops; texts and ranges in every observed pass
  Memory memory_trace;  ///< pass memory
  Derived derived;      ///< what analysis made of the two
};

}  // namespace kymo::event
