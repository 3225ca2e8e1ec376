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

class Guardian;

/// A worker's process with all that it printed. Its output is read while the event loop runs.
class WorkerProcess {
 public:
  /// Starts it; throws Error if it cannot be. The parent-death signal follows the calling thread, which must outlive
  /// this object.
  WorkerProcess(boost::asio::io_context& loop, const SpawnOptions& options, Guardian& guardian);
  /// Ends its whole group if it still runs.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// The process that says it is the worker: another one if a program was put before it. Ignored unless it is of this
  /// group.
  void announce(pid_t pid);
  pid_t worker_pid() const { return announced_ > 0 ? announced_ : pid_; }

  /// SIGKILL to the whole group; does not wait.
  void kill();
  /// How it ended, once it has; then nothing of its group is left and its output is complete. Never blocks.
  std::optional<ProcessEnd> poll_end();
  bool reaped() const { return end_.has_value(); }
  /// True once both its streams are closed: its end may be near.
  bool silent() const;

  /// Reads what lies in the pipes now and hands over what was printed since the last call.
  ProcessOutput take_output();
  /// The last line it printed on stderr, else on stdout.
  std::string last_line() const;

 private:
  struct Stream;
  pid_t pid_ = -1;
  pid_t announced_ = -1;
  Guardian& guardian_;
  std::optional<ProcessEnd> end_;
  std::shared_ptr<Stream> stdout_;
  std::shared_ptr<Stream> stderr_;
};

}  // namespace kymo::supervisor
