// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/protocol.hpp"
#include "supervisor/control_server.hpp"
#include "supervisor/rank_process.hpp"
#include "supervisor/worker_command.hpp"

namespace kymo::supervisor {

/// The workers of one pass, one per rank. Workers of a `time` pass may serve several runs.
class WorkerTeam {
 public:
  /// Starts one worker, locally or through a follower. Throws Error on failure.
  using Starter = std::function<std::unique_ptr<RankProcess>(const SpawnRequest&)>;

  /// Starts all ranks. Throws Error if one cannot be started; those already started are terminated.
  WorkerTeam(ControlServer& server, const Starter& start, const PlannedRun& run);
  ~WorkerTeam();
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;

  /// The only worker turns out to be the parent of so many ranks: its connection is closed, and the ranks are expected
  /// instead. The process of rank 0 stays; `process_of` returns those of the others.
  void replace(int ranks, const std::function<std::unique_ptr<RankProcess>(int)>& process_of);

  int count() const { return static_cast<int>(members_.size()); }
  /// The rank of a worker of this team; nullopt for other workers.
  std::optional<int> rank_of(WorkerId worker) const;
  RankProcess& process(int rank) { return *members_.at(static_cast<std::size_t>(rank)).process; }

  /// Sends the assignment immediately, or as soon as the worker connects.
  void assign(int rank, const measure::protocol::Assignment& assignment);
  void connected(int rank, const measure::protocol::Hello& hello);
  void closed(int rank);
  /// The worker of this rank, which goes on, will connect again.
  void expect_again(int rank);
  bool is_connected(int rank) const { return members_.at(static_cast<std::size_t>(rank)).connected; }
  /// The process that connected last. It need not be in the group of the process that was started.
  std::int64_t last_pid(int rank) const { return members_.at(static_cast<std::size_t>(rank)).pid; }
  void send(int rank, const Json& message, std::string_view payload = {});
  void send_exit();
  void kill();

  /// Returns once how a worker ended, after all of its messages have been read. `now_s` is the time of any steady
  /// clock.
  std::optional<WorkerEnd> take_end(int rank, double now_s);
  /// True if all workers are connected and alive.
  bool usable();
  /// True if every process has ended.
  bool ended();
  /// True if a process is about to end: check again soon.
  bool ending() const;

 private:
  struct Member {
    WorkerId id = 0;
    std::unique_ptr<RankProcess> process;
    std::int64_t pid = 0;
    bool connected = false;
    bool closed = false;
    std::optional<double> ended_s;  // when take_end() first saw it
    bool end_taken = false;
    std::optional<Json> waiting_assignment;
  };
  Member& member(int rank) { return members_.at(static_cast<std::size_t>(rank)); }

  ControlServer& server_;
  std::string token_;
  std::vector<Member> members_;
};

}  // namespace kymo::supervisor
