// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/enum_names.hpp"
#include "event/texts.hpp"
#include "event/work.hpp"

/// Records of what workloads report and counters show.
namespace kymo::event {

using kymo::to_string;  // so that it is found by argument-dependent lookup

/// A warning about the measurements of a pass, for users.
struct Warning {
  std::string kind;
  std::string detail;
};

enum class MetricLevel { kRun, kStep, kPhase };
constexpr auto names_of(MetricLevel) {
  using enum MetricLevel;
  return enum_names<MetricLevel>("metric level", {{kRun, "run"}, {kStep, "step"}, {kPhase, "phase"}});
}

/// A workload-defined metric. Either number or text is set.
struct Metric {
  MetricLevel level = MetricLevel::kRun;
  std::int64_t step = -1;  ///< -1 for per-run metrics
  std::string phase;       ///< empty except for per-phase metrics
  std::string name;
  std::optional<double> number;
  std::string text;
  std::string unit;
};

/// Floating-point operations and memory traffic of one phase, per step.
struct Work {
  std::string phase;
  double flops = 0;
  double bytes = 0;
};

/// Work of one call of an operator, declared by the workload; of all calls if `arguments` is empty.
struct DeclaredOpWork {
  std::string name;
  std::string arguments;
  double flops = 0;
  double bytes = 0;
};

/// Work of one call of an operator with these arguments, by a function of the operator's library.
struct LibraryOpWork {
  TextId name = kNoText;
  TextId arguments = kNoText;
  CallWork call;
};

/// From best to worst.
enum class CheckOutcome { kPassed, kUnavailable, kFailed };
constexpr auto names_of(CheckOutcome) {
  using enum CheckOutcome;
  return enum_names<CheckOutcome>("check outcome",
                                  {{kPassed, "passed"}, {kUnavailable, "unavailable"}, {kFailed, "failed"}});
}

/// Result of one comparison with a reference.
struct Check {
  std::string name;
  CheckOutcome outcome = CheckOutcome::kUnavailable;
  std::optional<double> max_abs_error;
  std::optional<double> max_rel_error;
  std::optional<double> tolerance;
  std::string reference;
  std::string detail;
};

/// GPU clocks, power and temperature, sampled during a step.
struct GpuSample {
  std::int64_t step = 0;
  std::int64_t time_ns = 0;  ///< host clock, relative to the start of the run
  std::optional<std::int64_t> sm_clock_mhz;
  std::optional<std::int64_t> memory_clock_mhz;
  std::optional<std::int64_t> power_mw;
  std::optional<std::int64_t> temperature_c;
  std::int64_t throttle_reasons = 0;  ///< NVML bit mask
};

/// How much of a whole GPU, by all processes, was in use in an interval. Empty values are not available.
struct GpuUtilization {
  std::int64_t start_ns = 0;  ///< host clock, relative to the start of the run
  std::int64_t end_ns = 0;
  // Fractions between 0 and 1:
  std::optional<double> sm_utilization;      ///< of the multiprocessors that were busy
  std::optional<double> sm_occupancy;        ///< of the warps that the multiprocessors can hold
  std::optional<double> tensor_utilization;  ///< of the peak of the tensor pipes
  std::optional<double> dram_utilization;    ///< of the peak bandwidth of the device memory
  std::optional<double> kernel_time;         ///< of the time, with at least one kernel
  // Traffic of this GPU:
  std::optional<double> pcie_sent_bytes_per_s, pcie_received_bytes_per_s;
  std::optional<double> nvlink_sent_bytes_per_s, nvlink_received_bytes_per_s;

  /// The values, for calculations with each of them.
  static constexpr auto values() {
    using G = GpuUtilization;
    return std::array{&G::sm_utilization,
                      &G::sm_occupancy,
                      &G::tensor_utilization,
                      &G::dram_utilization,
                      &G::kernel_time,
                      &G::pcie_sent_bytes_per_s,
                      &G::pcie_received_bytes_per_s,
                      &G::nvlink_sent_bytes_per_s,
                      &G::nvlink_received_bytes_per_s};
  }
};

/// Peak memory of the pass; empty values were not measured.
struct MemoryPeak {
  std::optional<std::int64_t> resident_bytes;   ///< resident set size of the process
  std::optional<std::int64_t> allocated_bytes;  ///< LibTorch's caching allocator
  std::optional<std::int64_t> reserved_bytes;
};

/// A failed memory allocation.
struct OutOfMemory {
  std::string where;  ///< "host" or "device"
  std::optional<std::int64_t> requested_bytes;
  std::optional<std::int64_t> free_bytes;
  std::optional<std::int64_t> peak_bytes;
};

/// Dropped or missing records.
struct DroppedRecords {
  std::string source;
  std::int64_t count = 0;  ///< -1 if unknown
  std::string detail;
};

/// Adds an entry if any records were dropped.
inline void add_dropped(std::vector<DroppedRecords>& list, std::string source, std::int64_t count, std::string detail) {
  if (count > 0) list.push_back({std::move(source), count, std::move(detail)});
}

/// State of LibTorch's CUDA caching allocator at one time.
struct MemoryCounter {
  std::int64_t step = -1;               ///< preceding step; -1 before the first step
  std::int64_t time_ns = 0;             ///< host clock, relative to the start of the run
  std::int64_t allocated_bytes = 0;     ///< memory in allocated blocks
  std::int64_t reserved_bytes = 0;      ///< memory reserved from the driver
  std::int64_t device_allocations = 0;  ///< allocation requests to the driver since the start of the pass
};

/// A mark set by the workload, or the end of a stage of the worker ("worker: ...").
struct Mark {
  std::string name;
  std::int64_t time_ns = 0;
  std::int64_t step = -1;
};

}  // namespace kymo::event
