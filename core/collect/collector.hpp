// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "collect/standpoint.hpp"
#include "event/records.hpp"
#include "measure/plan.hpp"

namespace kymo::collect {

/// A collector cannot work here; the run goes on without it and the reason is stored as a loss.
class Unavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a collector is told when a pass begins.
struct PassSetting {
  measure::Pass pass = measure::Pass::kTime;
  measure::DeviceKind device = measure::DeviceKind::kCpu;
  int device_index = 0;
  std::int64_t run_start_ns = 0;  ///< host clock; times in records are relative to it
  bool uses_torch = false;        ///< the plugin links LibTorch
  /// Where the workload stands at any moment; nullptr in the passes time and verify. Outlives the pass.
  Standpoint* standpoint = nullptr;
  measure::Observation how;
  std::vector<std::string> phases;  ///< names, in the order in which the workload declares them
};

/// What observes during a pass. All calls come from the worker's main thread, outside timed stretches unless said
/// otherwise.
class Collector {
 public:
  virtual ~Collector() = default;
  virtual std::string name() const = 0;
  /// Before the plugin is created. Throws Unavailable.
  virtual void arm(const PassSetting& setting) = 0;
  /// Before the first step is prepared, outside the timed stretch.
  virtual void before_steps() {}
  /// Inside the timed stretch: at its very beginning, and at its end once the device is synchronised.
  virtual void step_begin(std::int64_t step) { (void)step; }
  virtual void step_end(std::int64_t step) { (void)step; }
  /// Inside the timed stretch. `stream` is the cudaStream_t of the phase.
  virtual void phase_begin(std::size_t phase, void* stream) { (void)phase, (void)stream; }
  virtual void phase_end() {}
  /// True if the collector is to be told of scopes; asked once, after arm(). Scopes come from any thread.
  virtual bool wants_scopes() const { return false; }
  virtual void scope_begin(const char* name) { (void)name; }
  virtual void scope_end() {}
  /// After each step, outside the timed stretch.
  virtual void between_steps(std::int64_t step) { (void)step; }
  /// Between two cases of a reused worker: give back cached memory, reset peaks.
  virtual void reset() {}
  /// After the last step, also after a failure: hands over what it holds, losses included.
  /// If the pass ended for want of memory, record.out_of_memory is set: fill in what is known of it.
  virtual void disarm(event::PassRecord& record) = 0;
};

/// The device's side of timing; at most one collector of a pass provides it.
class DeviceTimer {
 public:
  virtual ~DeviceTimer() = default;
  /// Waits until the device has done all its work; throws std::runtime_error with the device's error.
  virtual void synchronize() = 0;
  /// True if what is queued on the stream is being captured into a graph: the device must not be waited for meanwhile.
  virtual bool is_capturing(void* stream) {
    (void)stream;
    return false;
  }
  /// Device time per phase index of the step that ended last; -1 where nothing was recorded. `whole_step_ns` spans the
  /// first phase's begin to the last phase's end.
  virtual void take_step(std::vector<std::int64_t>& phase_ns, std::int64_t& whole_step_ns) = 0;

  /// Mode hot: from begin_batch(), after step_begin(), to end_batch() all entries into a phase are one, which ends
  /// where the last of them left its stream; take_step() then gives the time of the whole batch.
  virtual void begin_batch() = 0;
  virtual void end_batch() = 0;

  /// Mode cold: queues on the stream that the device's last-level cache is filled with something else. Throws
  /// std::runtime_error.
  virtual void flush(void* stream) = 0;
  /// Modes hot and cold: what is queued on the stream from here on does not begin before release(), or before a
  /// time-out of one second: whoever waits for a held stream on the thread that is to release it would wait for ever.
  /// Throws std::runtime_error.
  virtual void block(void* stream) = 0;
  /// Lets a held stream go on; false if the time-out had to do it. True if nothing is held.
  virtual bool release() = 0;
};

/// What a module's one exported symbol returns. Host and modules are built together: C++ may cross here.
struct Module {
  const char* build = "";  ///< must equal the host's build id
  std::unique_ptr<Collector> (*make)() = nullptr;
  /// The collector's DeviceTimer, or nullptr.
  DeviceTimer* (*timer)(Collector&) = nullptr;
  /// The devices of this module's kind; throws Unavailable with the reason there are none.
  std::vector<event::Device> (*devices)() = nullptr;
  /// Version of the devices' driver, or empty; may be nullptr.
  std::string (*driver_version)() = nullptr;
};
inline constexpr const char* kModuleSymbol = "kymo_module";
using ModuleEntry = const Module* (*)();

}  // namespace kymo::collect
