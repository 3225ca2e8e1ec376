// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "collect/execution_context.hpp"
#include "event/records.hpp"
#include "measure/plan.hpp"

namespace kymo::collect {

/// Thrown if a collector cannot work in this environment. The run continues without it, and the reason is recorded as a
/// DroppedRecords entry.
class Unavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Settings of a pass, passed to collectors before it begins.
struct PassSetting {
  measure::Pass pass = measure::Pass::kTime;
  measure::DeviceKind device = measure::DeviceKind::kCpu;
  int device_index = 0;
  std::int64_t warmup = 0;        ///< steps before the measured ones
  std::int64_t run_start_ns = 0;  ///< host clock; times in records are relative to it
  bool uses_torch = false;        ///< the plugin links LibTorch
  bool times_steps = true;        ///< steps and their phases are timed on the device
  bool adds_new_events = false;   ///< add_new_events() is called
  /// Readings between two steps take at most one part in this many of the time; 0: as long as they take.
  std::int64_t reading_share = 0;
  /// Execution context of the workload's threads; nullptr in the time and verify passes. Outlives the pass.
  ExecutionContext* execution_context = nullptr;
  measure::Observation observation;
  measure::CounterRanges counter_ranges = measure::CounterRanges::kPhase;
  measure::Stacks stacks = measure::Stacks::kNone;
  std::vector<std::string> phases;  ///< names, in declaration order
};

/// Base class of everything that collects records during a pass. Unless stated otherwise, all calls come from the
/// worker's main thread, outside of timed regions.
class Collector {
 public:
  virtual ~Collector() = default;
  virtual std::string name() const = 0;
  /// Called before the plugin is created. Throws Unavailable.
  virtual void arm(const PassSetting& setting) = 0;
  /// Called before the first step is prepared, outside of the timed region.
  virtual void before_steps() {}
  /// Called at the begin of the timed region.
  virtual void step_begin(std::int64_t step) { (void)step; }
  /// Called inside the timed region. `stream` is the cudaStream_t of the phase.
  virtual void phase_begin(std::size_t phase, void* stream) { (void)phase, (void)stream; }
  virtual void phase_end() {}
  /// Returns true if the collector receives scopes; queried once, after arm(). Scopes come from any thread.
  virtual bool wants_scopes() const { return false; }
  virtual void scope_begin(const char* name) { (void)name; }
  virtual void scope_end() {}
  /// Called after each step, outside of the timed region.
  virtual void between_steps(std::int64_t step) { (void)step; }
  /// Called after between_steps() if the pass keeps a journal. Adds the events since the last call, if they are at
  /// hand. `events` is the same object each time.
  virtual void add_new_events(event::NewEvents& events) { (void)events; }
  /// Called between two cases of a reused worker. Releases cached memory and resets peaks.
  virtual void reset() {}
  /// Called after the last step, also after a failure. Moves all records, including dropped-record counts, into
  /// `record`. If the pass ran out of memory, record.out_of_memory is set; fill in its known fields.
  virtual void disarm(event::PassRecord& record) = 0;
};

/// Device timing. At most one collector of a pass provides it.
class DeviceTimer {
 public:
  virtual ~DeviceTimer() = default;
  /// Blocks until the device has completed all work. Throws std::runtime_error with the device's error.
  virtual void synchronize() = 0;
  /// Returns true if the stream is being captured into a CUDA graph, during which the device must not be synchronized.
  virtual bool is_capturing(void* stream) {
    (void)stream;
    return false;
  }
  /// Returns the device time per phase index of the last step, or -1 where nothing was recorded. `whole_step_ns` spans
  /// from the begin of the first phase to the end of the last phase.
  virtual void take_step(std::vector<std::int64_t>& phase_ns, std::int64_t& whole_step_ns) = 0;

  /// Timing hot: between begin_batch(), which follows step_begin(), and end_batch(), all entries into a phase
  /// count as one entry, which ends with the last of them on its stream. take_step() then returns the time of the whole
  /// batch.
  virtual void begin_batch() = 0;
  virtual void end_batch() = 0;

  /// Timing cold: queues work on the stream that evicts the device's last-level cache. Throws
  /// std::runtime_error.
  virtual void flush(void* stream) = 0;
  /// Timings hot and cold: blocks execution of work queued on the stream from now on until release(), or until a
  /// timeout of one second. The timeout prevents a deadlock if the releasing thread waits for the blocked stream.
  /// Throws std::runtime_error.
  virtual void block(void* stream) = 0;
  /// Unblocks the stream. Returns false if the timeout already did; true if no stream is blocked.
  virtual bool release() = 0;
};

/// Return type of a module's only exported symbol. Host and modules are built together, so C++ types may cross here.
struct Module {
  const char* build = "";  ///< must equal the host's build id
  std::unique_ptr<Collector> (*make)() = nullptr;
  /// Returns the collector's DeviceTimer, or nullptr.
  DeviceTimer* (*timer)(Collector&) = nullptr;
  /// Returns the devices that this module supports. Throws Unavailable with the reason if there are none.
  std::vector<event::Device> (*devices)() = nullptr;
  /// Returns the version of the device driver, or an empty string. May be nullptr.
  std::string (*driver_version)() = nullptr;
};
inline constexpr const char* kModuleSymbol = "kymo_module";
using ModuleEntry = const Module* (*)();

}  // namespace kymo::collect
