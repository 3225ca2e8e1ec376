// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/process.hpp"
#include "supervisor/asio_forward.hpp"

namespace kymo::supervisor {

class ProcessReaper;

/// A worker process and its output. The output is read while the event loop runs.
class WorkerProcess {
 public:
  /// Starts the process; throws Error on failure. The parent-death signal is tied to the calling thread, which must
  /// outlive this object.
  WorkerProcess(boost::asio::io_context& loop, const SpawnOptions& options, ProcessReaper& reaper);
  /// Kills the whole process group if it still runs.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// Sets the process that identified itself as the worker. With --wrap this differs from the process that was started.
  /// Ignored if the process is not in this group.
  void announce(pid_t pid);
  pid_t worker_pid() const { return announced_ > 0 ? announced_ : pid_; }

  /// Sends SIGKILL to the whole group; does not wait.
  void kill();
  /// How the process ended; nullopt while it runs. After it has ended, its group is empty and its output is complete.
  /// Does not block.
  std::optional<ProcessEnd> poll_end();
  bool reaped() const { return end_.has_value(); }
  /// True once both output streams are closed: the process may be about to end.
  bool output_closed() const;

  /// Drains the pipes and returns the output since the last call.
  ProcessOutput take_output();
  /// The last line of its stderr, or of its stdout if stderr is empty.
  std::string last_line() const;

 private:
  struct Stream;
  pid_t pid_ = -1;
  pid_t announced_ = -1;
  ProcessReaper& reaper_;
  std::optional<ProcessEnd> end_;
  std::shared_ptr<Stream> stdout_;
  std::shared_ptr<Stream> stderr_;
};

}  // namespace kymo::supervisor
