// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "worker/control_client.hpp"
#include "worker/engine.hpp"
#include "worker/worker_environment.hpp"

namespace kymo::worker {

/// Main loop of a worker: executes assignments until it is told to exit.
class Session {
 public:
  /// process_start_ns (host clock): start time of this process, to which the times of its first assignment are
  /// relative. step_records: of an observed program.
  Session(ControlClient& control, WorkerEnvironment& environment, std::int64_t process_start_ns,
          kymo_step_records* step_records = nullptr)
      : control_(control),
        environment_(environment),
        process_start_ns_(process_start_ns),
        step_records_(step_records) {}

  /// Throws ConnectionLost. All other errors become the outcome of an assignment.
  void serve();
  /// The same for a single assignment. Does not wait for a reply to its outcome, because the process is about to end.
  void serve_one();

 private:
  void execute(const measure::protocol::Assignment& assignment);
  measure::Outcome run_assignment(const measure::protocol::Assignment& assignment);
  /// Times of a run are relative to the process start for the first assignment, and to the assignment otherwise.
  PassStart begin_run();
  void add_device(const measure::protocol::Assignment& assignment, event::PassRecord& record);
  /// The journal of an observed program, which may be killed at any time; nullptr for a worker.
  std::unique_ptr<store::StepJournal> journal_of(const measure::protocol::Assignment& assignment,
                                                 std::int64_t run_start_ns);

  ControlClient& control_;
  WorkerEnvironment& environment_;
  std::int64_t process_start_ns_;
  kymo_step_records* step_records_;
  bool is_new_ = true;
  Observers used_;  // collectors of the previous assignment, reset before the next one
};

}  // namespace kymo::worker
