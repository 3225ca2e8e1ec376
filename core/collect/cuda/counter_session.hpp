// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "collect/cuda/clock_watch.hpp"
#include "collect/cuda/counter_plan.hpp"
#include "collect/cuda/kernel_counts.hpp"
#include "collect/cuda/profiler_api.hpp"
#include "collect/cuda/range_profiler.hpp"
#include "event/records.hpp"
#include "measure/plan.hpp"

namespace kymo::collect {

/// Counts hardware events in each step, in its phases and, if requested, in the scopes within its phases, with CUPTI's
/// range profiler. It counts one level of nested ranges at a time, so that ranges do not nest here: at each begin and
/// end of a step, phase or scope a range ends and the next one begins. Both wait for the device. The calls of steps and
/// phases come from one thread; scopes of other threads are not counted apart.
///
/// By kernel, CUPTI makes a range of each kernel, in the order of launch. Such ranges have no names, so that the
/// launches are recorded beside them, and a step counts only if there are as many of both.
class CounterSession {
 public:
  struct Setting {
    int device_index = 0;
    CUcontext context = nullptr;
    measure::CounterRanges ranges = measure::CounterRanges::kPhase;
    std::int64_t warmup = 0;  ///< steps that are not counted
    /// Reads clocks and throttle reasons; empty values are unknown. May be empty.
    std::function<event::GpuSample()> read_clocks = nullptr;
  };

  /// Plans what to count. Throws Unavailable with the reason and what to do.
  CounterSession(const ProfilerApi& api, Setting setting);
  /// Stops counting if necessary and discards what was counted.
  ~CounterSession();
  CounterSession(const CounterSession&) = delete;
  CounterSession& operator=(const CounterSession&) = delete;

  void step_begin(std::int64_t step);
  /// `is_captured`: the phase is captured into a CUDA graph, so that it does not run now.
  void phase_begin(std::int32_t phase, bool is_captured);
  void phase_end(bool is_captured);
  bool wants_scopes() const { return setting_.ranges == measure::CounterRanges::kScope; }
  void scope_begin(const char* name);
  void scope_end();
  /// By kernel: called before each launch, by any thread. `symbol` is the mangled name, or null if unknown.
  void kernel_launched(const char* symbol);
  /// By kernel: CUPTI cannot count kernels of graphs apart, so that nothing is counted.
  void graph_launched() { uses_graphs_ = true; }
  /// Throws std::runtime_error if counting changed the clocks.
  void step_end();
  /// Stops counting and adds all counts. A step that has not ended is not counted.
  void stop(event::PassRecord& record);

  /// The metrics of each set.
  const std::vector<std::vector<std::string>>& sets() const { return planned_; }

 private:
  /// A step, phase or scope. Its counts are those of its own ranges and of what it contains.
  struct Counted {
    std::int64_t step = -1;
    std::int32_t phase = -1;
    event::TextId scope = event::kNoText;
    std::optional<std::size_t> parent = std::nullopt;  // in counted_
    bool is_complete = true;
    std::vector<double> values = {};
  };
  struct OpenScope {
    std::optional<std::size_t> counted;  // nullopt: it is not counted apart
    event::TextId path = event::kNoText;
  };
  struct Launch {
    std::size_t counted = 0;  // in counted_
    std::string symbol;
  };
  using Key = std::tuple<std::int64_t, std::int32_t, event::TextId, event::TextId>;

  bool by_kernel() const { return setting_.ranges == measure::CounterRanges::kKernel; }

  void start();
  void finish();
  void read(std::size_t ranges);
  void read_kernels(std::size_t ranges);
  void add_to(std::size_t counted, const std::vector<double>& values);
  void add(const Counted& counted);
  std::optional<std::size_t> enter(std::int32_t phase, event::TextId scope);
  void leave(std::size_t counted);
  void leave_all();
  bool begin_range();
  bool end_range();
  void fail(CUptiResult result, const char* what);
  void read_before();
  void grow(std::size_t last_step_ranges);

  const ProfilerApi api_;
  const Setting setting_;
  ClockWatch clocks_;
  std::string chip_;
  std::vector<std::vector<std::string>> planned_;
  std::vector<std::unique_ptr<CounterSet>> sets_;

  // Ranges are read in portions, because CUPTI needs about 0.15 MB for each.
  RangeProfiler profiler_;
  bool is_counting_ = false;
  std::size_t set_ = 0;
  std::size_t capacity_;
  std::vector<Counted> counted_;     // in the portion
  std::vector<std::size_t> ranges_;  // of the portion: what each belongs to in counted_; its index is its name
  std::int64_t portion_steps_ = 0;
  std::size_t step_first_ = 0;          // in counted_
  std::size_t step_wanted_ranges_ = 0;  // also those that are not counted

  std::thread::id thread_;
  std::int64_t step_ = -1;
  std::int32_t phase_ = -1;
  std::vector<std::size_t> open_;  // in counted_, innermost last, to which the open range belongs
  bool phase_runs_ = false;        // it is open and not captured into a CUDA graph
  std::optional<std::size_t> phase_counted_;
  bool is_blocked_ = false;  // a range could not end when it should, because its stream was captured
  std::vector<OpenScope> scopes_;

  // By kernel.
  std::mutex launches_mutex_;
  std::vector<Launch> launches_;                // of the portion
  std::atomic<std::size_t> step_launches_ = 0;  // also those that are not counted
  std::atomic<std::ptrdiff_t> launching_ = -1;  // in counted_, to which a launch belongs
  std::atomic<bool> uses_graphs_ = false;
  KernelCounts kernels_;
  std::int64_t unmatched_steps_ = 0;
  std::string unmatched_;

  event::Texts texts_;
  std::vector<event::HardwareCount> counts_;
  std::map<Key, std::size_t> positions_;  // in counts_
  std::int64_t steps_counted_ = 0, beyond_capacity_ = 0, all_ranges_ = 0, unread_ = 0, invalid_ = 0;
  std::string failure_;
};

}  // namespace kymo::collect
