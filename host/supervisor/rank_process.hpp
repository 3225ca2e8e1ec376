// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "measure/protocol.hpp"

namespace kymo::supervisor {

/// How a worker process ended, with related information from the system.
struct WorkerEnd {
  ProcessEnd end;
  bool kernel_out_of_memory = false;       ///< the kernel killed a process for lack of memory in the meantime
  std::string last_line;                   ///< last line of its stderr
  std::string lost = "";                   ///< not empty: reason why it is unknown how the worker ended
  std::vector<std::string> detached = {};  ///< names of the processes that had left its group and were ended after it
  bool of_program = false;                 ///< it is the end of the program that started the ranks
};

/// The worker of one rank as seen by the supervisor of rank 0, either local or behind a follower. No function blocks.
class RankProcess {
 public:
  virtual ~RankProcess() = default;

  /// Adds the rank's machine-specific values to the assignment: file paths and GPU.
  virtual void localize(measure::protocol::Assignment& assignment) const = 0;
  /// Starts a pass; the functions below refer to it.
  virtual void begin_pass(std::int64_t run_id, measure::Pass pass) = 0;
  /// Sets the process that identified itself as the worker. With --wrap this differs from the process that was started.
  virtual void announce(pid_t pid) = 0;
  virtual pid_t worker_pid() const = 0;
  virtual std::string host() const = 0;

  /// Sends SIGKILL to its process group.
  virtual void kill() = 0;
  /// Sends a signal to the process that was started here, such as an observed program.
  virtual void signal(int number) { (void)number; }
  /// How the worker ended; nullopt while it runs.
  virtual std::optional<WorkerEnd> poll_end() = 0;
  virtual bool reaped() const = 0;
  /// True once both output streams are closed: the process may be about to end.
  virtual bool output_closed() const = 0;

  struct MemoryUse {
    std::int64_t bytes = 0;
    std::optional<std::int64_t> available_bytes;  ///< available memory on its machine, set if the worker exceeds the
                                                  ///< limit
  };
  /// Current resident size, if known; `bound_bytes` 0 = no limit.
  virtual std::optional<MemoryUse> memory_use(std::int64_t bound_bytes) = 0;

  /// Starts the transfer of the pass's output to this machine, and of its rank file to `rank_file`.
  virtual void collect(const std::filesystem::path& rank_file) = 0;
  /// True once the transfer is complete or has failed. `now_s` is the time of any steady clock; a stalled transfer is
  /// abandoned.
  virtual bool collected(double now_s) = 0;
  /// Output since the last call.
  virtual ProcessOutput take_output() = 0;
};

}  // namespace kymo::supervisor
