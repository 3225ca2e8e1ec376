// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// Durations of steps and phases, how the threads of a worker were scheduled, and how fast the processor was.
namespace kymo::event {

/// Phase names for the whole step and for the time outside of its phases.
inline constexpr const char* kWholeStep = "step";
inline constexpr const char* kOtherPhase = "other";

/// Duration of a phase, or of the whole step, in one step.
struct Sample {
  std::int64_t step = 0;  ///< index from 0, including warm-up steps
  std::string phase;
  bool warmup = false;
  bool throttled = false;     ///< the GPU was throttled (measure/statistics.hpp) or the process was suspended during
                              ///< the step; set after the pass
  std::int64_t calls = 1;     ///< number of times the phase was entered in the step
  std::int64_t start_ns = 0;  ///< host clock, relative to the start of the run
  std::int64_t host_ns = 0;   ///< duration on the host clock
  std::optional<std::int64_t> device_ns;  ///< duration between CUDA events on the phase's stream
  // In the time pass, used by all threads of the process in a whole step:
  std::optional<std::int64_t> cpu_ns;                ///< processor time
  std::optional<std::int64_t> involuntary_switches;  ///< times that a thread lost its processor although it could run
};

/// How the threads of a worker were scheduled from the begin of a measured step to the end of a later one.
struct Scheduling {
  std::int64_t step = 0;      ///< the last one
  std::int64_t steps = 0;     ///< number of steps
  std::int64_t start_ns = 0;  ///< host clock, relative to the start of the run
  std::int64_t wall_ns = 0;
  std::int64_t cpu_ns = 0;                      ///< sum over the steps, without the time between them
  std::int64_t involuntary_switches = 0;        ///< sum over the steps, without the time between them
  std::optional<std::int64_t> threads;          ///< number of threads; empty if the system does not count waits
  std::optional<std::int64_t> wait_ns;          ///< time in run queues, sum over the threads
  std::optional<std::int64_t> longest_wait_ns;  ///< of the thread that waited longest
  std::optional<std::int64_t> pressure_ns;      ///< time in which any thread of the system waited
  std::optional<double> load_average;           ///< of the system, over one minute
};

/// How fast the processor was between two steps: the time of a loop that does the same on every machine.
struct ReferenceLoop {
  std::int64_t step = -1;  ///< the one before; -1 before the first
  std::int64_t duration_ns = 0;
};

}  // namespace kymo::event
