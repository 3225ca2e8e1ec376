// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "abi/kymo_plugin.h"
#include "event/memory.hpp"
#include "event/trace.hpp"
#include "event/work.hpp"

/// Results of the analysis of one pass of one rank. The fields match the tables of the same names (docs/schema.md).
namespace kymo::event {

struct KernelClass {
  TextId name = kNoText;
  std::string short_name;
  std::string kernel_class;
};

struct ScopePath {
  TextId path = kNoText;
  std::string module;
  std::int64_t depth = 0;
};

struct KernelTotal {
  ActivityKind kind = ActivityKind::kKernel;
  std::int32_t phase = -1;
  TextId scope = kNoText;
  TextId name = kNoText;
  Attribution attribution = Attribution::kNone;
  std::int64_t steps = 0, calls = 0, bytes = 0, total_ns = 0, min_ns = 0, max_ns = 0;
  std::int64_t launch_config = -1;  ///< kernels: index into Trace::shapes
  std::int64_t op_work = -1;        ///< index into Derived::op_work
};

struct OpTotal {
  std::int32_t phase = -1;
  TextId scope = kNoText;
  TextId name = kNoText;
  bool backward = false;
  std::int64_t steps = 0, calls = 0, host_ns = 0, self_host_ns = 0, kernels = 0, device_ns = 0;
};

/// What a line of Python code does, or all lines that are unknown.
struct LineTotal {
  TextId file = kNoText;  ///< kNoText if the line is unknown
  std::int64_t line = -1;
  TextId function = kNoText;
  std::int32_t phase = -1;
  bool of_forward = false;  ///< the line called the forward operator whose backward pass this is
  const char* kind = "";    ///< operator, host read (an operator that copies a value to the host), or as Activity
  std::int64_t steps = 0, calls = 0, total_ns = 0;  ///< operators: self time
};

struct StepActivity {
  std::int64_t step = 0;
  std::string phase;
  bool warmup = false;
  std::int64_t start_ns = 0, end_ns = 0, kernels = 0, kernel_ns = 0, compute_ns = 0, comm_ns = 0, overlap_ns = 0,
               exposed_comm_ns = 0, copy_ns = 0, exposed_copy_ns = 0, idle_ns = 0, gaps = 0, longest_gap_ns = 0;
};

/// What the host did while nothing ran on the GPU.
enum class HostWork : std::uint8_t {
  kHostCode,     ///< none of the others; without recorded operators, also these
  kOperator,     ///< an operator of LibTorch
  kCompilation,  ///< a compiler of the framework
  kLaunch        ///< the work that ends the gap had been launched
};
constexpr auto names_of(HostWork) {
  using enum HostWork;
  return enum_names<HostWork>(
      "host work",
      {{kHostCode, "host code"}, {kOperator, "operator"}, {kCompilation, "compilation"}, {kLaunch, "launch"}});
}

struct IdleTotal {
  std::int32_t phase = -1;
  TextId scope = kNoText;
  HostWork activity = HostWork::kHostCode;
  std::int64_t steps = 0, gaps = 0, total_ns = 0, after_copy_ns = 0;
};

struct KernelOutlier {
  std::int64_t sequence = 0;  ///< index into Trace::activities, which are sorted by start time at this point
  std::int64_t group_size = 0, group_median_ns = 0;
  double deviation = 0;
  bool first_use = false;
  std::int64_t concurrent = 0, gap_before_ns = 0;
  std::optional<std::int64_t> sm_clock_mhz;
};

#define KYMO_MEMORY_CATEGORY(NAME, Name, ...) k##Name = KYMO_##NAME - 1,
enum class MemoryCategory : std::uint8_t { KYMO_MEMORY_CATEGORIES(KYMO_MEMORY_CATEGORY) kUnknown };
#undef KYMO_MEMORY_CATEGORY
inline constexpr std::size_t kMemoryCategories = static_cast<std::size_t>(MemoryCategory::kUnknown) + 1;
constexpr auto names_of(MemoryCategory) {
  using enum MemoryCategory;
#define KYMO_MEMORY_CATEGORY(NAME, Name, name, ...) {k##Name, name},
  return enum_names<MemoryCategory>("memory category",
                                    {KYMO_MEMORY_CATEGORIES(KYMO_MEMORY_CATEGORY){kUnknown, "unknown"}});
#undef KYMO_MEMORY_CATEGORY
}

struct Allocation {
  std::int64_t sequence = 0;  ///< index into Memory::events
  MemoryDevice device = MemoryDevice::kCpu;
  std::uint64_t address = 0;
  std::int64_t requested_bytes = 0, allocated_bytes = 0, alloc_ns = 0;
  std::optional<std::int64_t> free_ns, reusable_ns, free_sequence, reusable_sequence;
  std::uint32_t stream = 0, thread = 0;
  std::int32_t step = -1, phase = -1;
  TextId scope = kNoText;
  std::optional<std::int32_t> free_step;
  std::int32_t free_phase = -1;
  TextId op = kNoText;
  MemoryCategory category = MemoryCategory::kUnknown;
  const char* category_source = "";  ///< tag, stack, lifetime, or empty
  std::int32_t stack = -1;
};

struct Segment {
  std::int64_t sequence = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::uint32_t stream = 0;
  std::int64_t alloc_ns = 0;
  std::optional<std::int64_t> free_ns, free_sequence;
};

struct MemoryPoint {
  std::int64_t sequence = 0;
  MemoryDevice device = MemoryDevice::kCpu;
  std::int64_t time_ns = 0;
  std::int32_t step = -1, phase = -1;
  MemoryState state;
};

struct MemoryPhase {
  MemoryDevice device = MemoryDevice::kCpu;
  std::int64_t step = -1;
  std::string phase;
  bool warmup = false;
  std::int64_t begin_allocated_bytes = 0, end_allocated_bytes = 0;
  MemoryState peak;  ///< maximum of each counter separately
  std::int64_t peak_ns = 0;
  std::int64_t category_bytes[kMemoryCategories] = {};  ///< allocated sizes of the blocks that are live at peak_ns
};

/// Memory of the live blocks at the highest peak of a pass that have a category, a phase and a scope in common.
struct MemoryPart {
  MemoryDevice device = MemoryDevice::kCpu;
  MemoryCategory category = MemoryCategory::kUnknown;
  std::string phase;  ///< in which they were allocated
  std::string scope;  ///< outermost one, with * for the index of a repeated scope
  std::int64_t bytes = 0;
};

/// What a tensor that autograd keeps holds.
enum class KeptMemory : std::uint8_t { kActivation, kParameter, kInput, kOther };
constexpr auto names_of(KeptMemory) {
  using enum KeptMemory;
  return enum_names<KeptMemory>(
      "kept memory", {{kActivation, "activation"}, {kParameter, "parameter"}, {kInput, "input"}, {kOther, "other"}});
}

struct KeptTensor {
  std::int32_t step = -1;
  bool nested = false;
  TextId node = kNoText, scope = kNoText, type = kNoText;
  std::int64_t bytes = 0, storage = 0, storage_bytes = 0, counted_bytes = 0;
  KeptMemory memory = KeptMemory::kOther;
};

struct Derived {
  std::vector<KernelClass> kernel_classes;
  std::vector<ScopePath> scope_paths;
  std::vector<KernelTotal> kernel_totals;
  std::vector<OpTotal> op_totals;
  std::vector<LineTotal> line_totals;
  std::vector<OpWork> op_work;
  std::vector<StepActivity> step_activity;
  std::vector<IdleTotal> idle_totals;
  std::vector<KernelOutlier> outliers;
  std::vector<Allocation> allocations;
  std::vector<Segment> segments;
  std::vector<MemoryPoint> memory_points;
  std::vector<MemoryPhase> memory_phases;
  std::vector<MemoryPart> memory_parts;
  std::vector<KeptTensor> kept_tensors;
};

}  // namespace kymo::event
