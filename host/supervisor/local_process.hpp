// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "supervisor/rank_process.hpp"
#include "supervisor/worker_process.hpp"

namespace kymo::supervisor {

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
