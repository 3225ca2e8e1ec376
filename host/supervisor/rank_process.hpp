// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/process.hpp"
#include "measure/protocol.hpp"
#include "supervisor/pass_state.hpp"

namespace kymo::supervisor {

/// The worker of one rank as the supervisor of rank 0 sees it, on this machine or behind a follower. Nothing here
/// blocks.
class RankProcess {
 public:
  virtual ~RankProcess() = default;

  /// Tells the assignment where this rank is: files and GPU of its own machine.
  virtual void localize(measure::protocol::Assignment& assignment) const = 0;
  /// A pass begins; what is asked below concerns it.
  virtual void begin_pass(std::int64_t run_id, measure::Pass pass) = 0;
  /// The process that says it is the worker: another one if a program was put before it.
  virtual void announce(pid_t pid) = 0;
  virtual pid_t worker_pid() const = 0;
  virtual std::string host() const = 0;

  /// SIGKILL to its whole group.
  virtual void kill() = 0;
  /// How it ended, once it has.
  virtual std::optional<WorkerEnd> poll_end() = 0;
  virtual bool reaped() const = 0;
  /// True once both its streams are closed: its end may be near.
  virtual bool silent() const = 0;

  struct MemoryUse {
    std::int64_t bytes = 0;
    std::optional<std::int64_t> available_bytes;  ///< on its machine, if it uses more than the bound
  };
  /// Resident size now, as far as it is known; `bound_bytes` 0 = none.
  virtual std::optional<MemoryUse> memory_use(std::int64_t bound_bytes) = 0;

  /// Begins to bring what the pass left to this machine: its output, and its rank file as `rank_file`.
  virtual void collect(const std::filesystem::path& rank_file) = 0;
  /// Everything is here, or never will be. `now_s` on any steady clock: a transfer that stands still is given up.
  virtual bool collected(double now_s) = 0;
  /// What was printed since the last call.
  virtual ProcessOutput take_output() = 0;
};

}  // namespace kymo::supervisor
