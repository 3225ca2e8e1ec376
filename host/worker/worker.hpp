// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "event/step_records.h"
#include "worker/worker_environment.hpp"

namespace kymo::worker {

/// How a worker connects to its supervisor.
struct WorkerOptions {
  std::string address;  ///< of the control server, as for SocketClient
  int rank = 0;
  std::string token;
  std::int64_t process_start_ns = 0;  ///< host clock; origin of the times of the first assignment
  int ranks = 0;  ///< of the process group that an observed program has made; 0: not known, or a worker
  /// nullptr: the process is a worker. Otherwise it is a program that is observed, executes a single assignment, and
  /// changes no settings of the process.
  kymo_step_records* step_records = nullptr;
};

/// Connects to the control server, executes the assigned passes and returns the exit code of the process. Ends the
/// process if the connection is lost, unless it is an observed program.
int run_worker(const WorkerOptions& options, WorkerEnvironment& environment);

}  // namespace kymo::worker
