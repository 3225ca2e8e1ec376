// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/process.hpp"
#include "supervisor/asio_forward.hpp"
#include "supervisor/rank_process.hpp"

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
  /// True once after the process was stopped from its terminal (Ctrl-Z).
  bool was_stopped();
  /// Sends a signal to the process itself.
  void signal(int number);
  /// How the process ended; nullopt while it runs. After it has ended, its group is empty and its output is complete.
  /// Does not block.
  std::optional<ProcessEnd> poll_end();
  bool reaped() const { return end_.has_value(); }
  /// True once both captured output streams are closed: the process may be about to end.
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
  bool is_captured_ = true;  // whether its output is
  std::shared_ptr<Stream> stdout_;
  std::shared_ptr<Stream> stderr_;
};

/// The name of this machine.
std::string host_name();

/// Local rank and device of a rank. They differ if each process sees only its own GPU, which then is its device 0.
struct LocalPlacement {
  int local_rank = 0;
  int device_index = 0;  ///< CUDA device ordinal in the worker's process
};

/// A worker started by this process.
class LocalProcess final : public RankProcess {
 public:
  /// Starts the worker. Throws Error if it cannot be started.
  LocalProcess(boost::asio::io_context& loop, const SpawnOptions& options, ProcessReaper& reaper,
               const LocalPlacement& placement);

  void localize(measure::protocol::Assignment& assignment) const override;
  void begin_pass(std::int64_t run_id, measure::Pass pass) override;
  void announce(pid_t pid) override { process_.announce(pid); }
  pid_t worker_pid() const override { return process_.worker_pid(); }
  std::string host() const override { return host_name(); }
  void kill() override { process_.kill(); }
  void signal(int number) override { process_.signal(number); }
  bool was_stopped() { return process_.was_stopped(); }
  pid_t group() const { return process_.pid(); }
  std::optional<WorkerEnd> poll_end() override;
  bool reaped() const override { return process_.reaped(); }
  bool output_closed() const override { return process_.output_closed(); }
  std::optional<MemoryUse> memory_use(std::int64_t bound_bytes) override;
  void collect(const std::filesystem::path&) override {}
  bool collected(double) override { return true; }
  ProcessOutput take_output() override;

 private:
  WorkerProcess process_;
  LocalPlacement placement_;
  std::int64_t kernel_kills_before_ = 0;
  std::optional<WorkerEnd> end_;
};

}  // namespace kymo::supervisor
