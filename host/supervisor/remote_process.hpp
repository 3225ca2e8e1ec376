// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "supervisor/follower_hub.hpp"
#include "supervisor/rank_process.hpp"

namespace kymo::supervisor {

/// A worker behind a follower. Commands are sent over its link; queries return the latest state received.
class RemoteProcess final : public RankProcess, private RemoteWorker {
 public:
  /// Requests the start of the worker. Throws Error if the follower is lost. The worker itself connects to the control
  /// server with the token.
  RemoteProcess(FollowerHub& hub, int rank, std::size_t plan_index, const std::string& token);
  ~RemoteProcess() override;
  RemoteProcess(const RemoteProcess&) = delete;
  RemoteProcess& operator=(const RemoteProcess&) = delete;

  void localize(measure::protocol::Assignment& assignment) const override;
  void begin_pass(std::int64_t run_id, measure::Pass pass) override;
  void announce(pid_t pid) override;
  pid_t worker_pid() const override { return pid_; }
  std::string host() const override;
  void kill() override;
  std::optional<WorkerEnd> poll_end() override;
  bool reaped() const override { return end_seen_; }
  bool output_closed() const override { return false; }
  std::optional<MemoryUse> memory_use(std::int64_t bound_bytes) override;
  void collect(const std::filesystem::path& rank_file) override;
  bool collected(double now_s) override;
  ProcessOutput take_output() override;

 private:
  int rank() const override { return rank_; }
  void ended(const follower_protocol::Ended& message) override;
  void memory(const follower_protocol::Memory& message) override;
  void output(const follower_protocol::WorkerOutput& message) override;
  void received(const follower_protocol::FilePart& part) override;
  void lost(const std::string& reason) override;

  struct Transfer;
  void give_up(const std::string& reason);
  void complete();

  FollowerHub& hub_;
  int rank_;
  std::size_t plan_index_;
  std::int64_t worker_;
  pid_t pid_ = 0;
  std::optional<WorkerEnd> end_;
  bool end_seen_ = false;
  std::optional<MemoryUse> memory_;
  ProcessOutput output_;
  std::unique_ptr<Transfer> transfer_;  ///< while the results of a pass are transferred
};

}  // namespace kymo::supervisor
