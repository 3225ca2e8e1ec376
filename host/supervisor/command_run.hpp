// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "supervisor/process_reaper.hpp"
#include "supervisor/progress_meter.hpp"
#include "supervisor/runs.hpp"
#include "supervisor/scratch.hpp"

namespace kymo::supervisor {

/// Executes the command of a run, each step in a process of its own: the warm-up steps, of the first repetition only,
/// then as many as the stopping rule asks for. Processes that the command does not wait for are ended with it.
/// `interrupted_by` is called at least every 50 ms and returns the signal that ends the run, or 0; SIGKILL ends the
/// command at once. Does not throw for failures of the command.
ExecutedRun execute_command(std::int64_t run_id, const PlannedRun& run, const Scratch& scratch, ProgressMeter& meter,
                            ProcessReaper& reaper, const std::function<int()>& interrupted_by);

}  // namespace kymo::supervisor
