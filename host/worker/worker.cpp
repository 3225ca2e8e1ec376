// SPDX-License-Identifier: Apache-2.0
#include "worker/worker.hpp"

#include <csignal>
#include <cstdlib>

#include "base/error.hpp"
#include "base/log.hpp"
#include "worker/freed_memory.hpp"
#include "worker/session.hpp"
#include "worker/socket_client.hpp"
#include "worker/step_driver.hpp"

namespace kymo::worker {

int run_worker(const WorkerOptions& options, WorkerEnvironment& environment) {
  const bool is_worker = !options.step_records;
  if (is_worker) {
    // Libraries write to sockets of other ranks. If such a rank is gone, the call must fail instead of terminating this
    // process.
    std::signal(SIGPIPE, SIG_IGN);
    watch_for_suspensions();
    keep_freed_memory();
  }
  try {
    SocketClient control(options.address, options.rank, options.token, options.ranks);
    Session session(control, environment, options.process_start_ns, options.step_records);
    if (is_worker)
      session.serve();
    else
      session.serve_one();
    return static_cast<int>(ExitCode::kOk);
  } catch (const ConnectionLost&) {
    if (!is_worker) return static_cast<int>(ExitCode::kToolError);
    // The result is no longer needed, and an orphaned worker must not hold the GPU while libraries shut down.
    std::_Exit(static_cast<int>(ExitCode::kToolError));
  } catch (const std::exception& error) {
    log::error(error.what());
    return static_cast<int>(ExitCode::kToolError);
  }
}

}  // namespace kymo::worker
