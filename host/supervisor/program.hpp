// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "base/process.hpp"
#include "event/records.hpp"
#include "measure/outcome.hpp"
#include "supervisor/rank_process.hpp"
#include "supervisor/spawn_request.hpp"

/// Programs that are observed (`kymo trace`). A program takes the place of the worker: a package that is injected
/// through the environment connects to the supervisor when the program calls its model, and runs the worker's engine in
/// the program.
namespace kymo::supervisor {

/// A rank that the program starts by itself, as torchrun does. It ends with the program.
class RankOfProgram final : public RankProcess {
 public:
  RankOfProgram(RankProcess& program, int rank) : program_(program), rank_(rank) {}

  void localize(measure::protocol::Assignment& assignment) const override {
    assignment.local_rank = rank_;
    assignment.device_index = rank_;
  }
  void begin_pass(std::int64_t, measure::Pass) override {}
  void announce(pid_t pid) override { pid_ = pid; }
  pid_t worker_pid() const override { return pid_; }
  std::string host() const override { return program_.host(); }
  void kill() override {}
  std::optional<WorkerEnd> poll_end() override { return program_.poll_end(); }
  bool reaped() const override { return program_.reaped(); }
  bool output_closed() const override { return false; }
  std::optional<MemoryUse> memory_use(std::int64_t bound_bytes) override;
  void collect(const std::filesystem::path&) override {}
  bool collected(double) override { return true; }
  ProcessOutput take_output() override { return {}; }

 private:
  RankProcess& program_;
  int rank_;
  pid_t pid_ = -1;
};

/// The program's command with the variables that inject the package. Throws Error if the installation has none.
SpawnOptions observed_program(const SpawnRequest& request);

/// Whether the program is ended after the last step to observe. By default, it is in the trace pass on a GPU, because
/// kernels are recorded until the process ends, and the results of the program are those of a normal run anyway.
bool stops(const PlannedRun& run, measure::Pass pass);

/// The method of one pass. The memory pass begins with the import of torch, as its first warm-up step.
measure::Method method_of_program(const ObservedProgram& program, const measure::Method& method, measure::Pass pass);

/// As for --steps: "100:110".
std::string to_text(const Window& window);

/// The window that the run of a program describes.
Window first_window(const PlannedRun& program);

/// The run that a window of the program is, from the run of the program.
PlannedRun run_of_window(const PlannedRun& program, const Window& window);

/// The metrics of what the program did after the steps to observe, by rank, from the log file that it wrote: the number
/// and median time of its steps, and what was not observed.
std::map<int, std::vector<event::Metric>> logged_metrics(const std::filesystem::path& log_file);

/// The warning about processes that trained and were not observed, from the log file that they wrote, with what to do
/// to observe them instead of those that are (`processes`).
std::optional<event::Warning> unobserved_processes_warning(const std::filesystem::path& log_file,
                                                           ObservedProcesses processes);

/// The outcome of a pass after its program has ended. A program that ends by itself with another exit code than 0, or
/// by a signal, is a failure; what it did until then is kept. `connected`: the package has connected; otherwise the
/// detail says why not, from the log file that it wrote. `processes`: those to observe. `pid`: of the rank that the
/// outcome is about, whose end the program may have written down.
measure::Outcome outcome_of_program(measure::Outcome verdict, const ProcessEnd& end, bool connected,
                                    const std::filesystem::path& log_file,
                                    ObservedProcesses processes = ObservedProcesses::kFound, pid_t pid = -1);

}  // namespace kymo::supervisor
