// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "event/device.hpp"
#include "measure/outcome.hpp"
#include "store/results.hpp"

namespace kymo::supervisor {

/// Which processes of a program are observed.
enum class ObservedProcesses {
  kFound,  ///< the ranks of the first process group that the program makes; until then, or without one, a single
           ///< process that multiprocessing did not start
  kMain,   ///< a single process that multiprocessing did not start
  kFirst,  ///< a single process
  kRanks,  ///< ranks whose number is known
};

/// A range of steps of a program, counted from 0, that is observed.
struct Window {
  std::int64_t first = 0;
  std::int64_t steps = 10;
  std::int64_t warmup = 0;  ///< steps before it that are observed as well

  std::int64_t begin() const { return first - warmup; }
  std::int64_t end() const { return first + steps; }
  /// Steps that passes observe which record events: ten if the window has no end.
  std::int64_t observed() const { return steps < measure::kMaxFreeSteps ? steps : 10; }
};

/// The windows of a program after the first one. Each is a run of its own.
struct FurtherWindows {
  std::vector<Window> listed = {};
  std::int64_t period = 0;  ///< steps between the begins of windows like the last one, until the program ends; 0: none
  bool on_request = false;  ///< all windows, also the first one, are requested while the program runs

  bool any() const { return !listed.empty() || period > 0 || on_request; }
};

/// A program that runs its steps itself and takes the place of the worker (supervisor/program.hpp).
struct ObservedProgram {
  std::vector<std::string> command;                                   ///< empty: a worker runs the workload
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< added to that of kymo
  std::int64_t skipped_steps = 0;                                     ///< before the first warm-up step
  FurtherWindows further_windows = {};
  std::optional<bool> stop = {};  ///< end the program after the last step to observe; empty: see stops()
  ObservedProcesses processes = ObservedProcesses::kFirst;
  std::vector<int> observed_ranks = {};  ///< empty: all
  bool captures_output = false;          ///< as that of a worker; otherwise it has the streams of kymo
};

/// A command that is measured as a whole: each step of its run is an execution (supervisor/command_run.hpp).
struct WholeCommand {
  std::vector<std::string> words;         ///< the program and its arguments; empty: the run has no command
  bool in_shell = false;                  ///< the program is a shell
  std::vector<std::string> prepare = {};  ///< a command that is executed before each step
  bool ignores_failure = false;           ///< an exit code other than 0 is none
  bool stores_output = false;             ///< its stdout, too; otherwise it is discarded
  event::Device device = {};              ///< the machine's
};

/// One run to execute.
struct PlannedRun : store::RunRow {
  std::string skip_reason;         ///< not empty: store a `skipped` row and start no worker
  std::string plugin_description;  ///< JSON; empty for shared libraries, which workers load without it
  ObservedProgram program;         ///< observed instead of a worker, if it has a command
  WholeCommand command;            ///< executed instead of a worker, if it has words
  std::size_t plan_index = 0;      ///< index in the plan before any run was removed; followers identify the run by it
};

/// True if the only pass is the prediction of memory.
inline bool predicts_only(const PlannedRun& run) { return run.method.passes == std::vector{measure::Pass::kPredict}; }

/// The results of a run, ready to be stored.
struct ExecutedRun {
  measure::Outcome outcome;
  std::vector<store::WorkerRow> workers;
  std::vector<std::filesystem::path> rank_files;
  std::vector<store::DetachedProcesses> detached;
  int ranks = 0;  ///< that an observed program turned out to have; 0: as planned
};

/// Result of the invocation.
struct Summary {
  std::vector<measure::Outcome> runs;  ///< in the order of execution
  ProcessEnd program_end = {};         ///< of the program, if windows of it were observed
  int signal = 0;                      ///< SIGINT, SIGTERM or SIGHUP if one of them interrupted the invocation
};

}  // namespace kymo::supervisor
