// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "supervisor/asio_forward.hpp"
#include "supervisor/control_server.hpp"
#include "supervisor/follower_protocol.hpp"
#include "supervisor/launcher_environment.hpp"
#include "supervisor/runs.hpp"

namespace kymo::supervisor {

/// Additional data for rank 0 of a job with several supervisors.
struct LeaderOptions {
  LauncherEnvironment launcher_env;
  std::vector<PlannedRun> plan;                  ///< all runs, before any was removed
  std::function<int(const Summary&)> exit_code;  ///< exit code of this process; the followers exit with the same code
};

/// A worker behind a follower. The hub calls these functions with what the follower reports about it.
class RemoteWorker {
 public:
  virtual ~RemoteWorker() = default;
  virtual int rank() const = 0;
  virtual void ended(const follower_protocol::Ended& message) = 0;
  virtual void memory(const follower_protocol::Memory& message) = 0;
  virtual void output(const follower_protocol::WorkerOutput& message) = 0;
  virtual void received(const follower_protocol::FilePart& part) = 0;
  /// The follower is lost.
  virtual void lost(const std::string& reason) = 0;
};

/// The leader's links to all followers of a job. Used only from the thread that runs the event loop.
class FollowerHub {
 public:
  /// `signalled` is called when a follower received a signal from the user, with the signal number.
  FollowerHub(boost::asio::io_context& loop, const LauncherEnvironment& launcher_env, follower_protocol::Plan plan,
              std::function<void(int rank, int signal)> signalled);
  /// Closes all links. A follower that has not received `finish` treats this as the end of the leader.
  ~FollowerHub();
  FollowerHub(const FollowerHub&) = delete;
  FollowerHub& operator=(const FollowerHub&) = delete;

  /// Handles a new connection whose first message is `first`. Takes ownership of the socket. A process that is not a
  /// follower of this job is rejected with a reason.
  void take(int socket, const Json& first);
  /// Runs the loop until every follower has joined or `stop` returns true. Throws Error with the missing ranks when the
  /// job's join timeout expires, or with the reason why a rank is incompatible (different version or plan).
  void gather(const std::function<bool()>& stop);
  /// Why a rank that had joined is no longer reachable; empty while it is reachable.
  const std::string& lost(int rank) const;
  /// True if no rank is lost.
  bool intact() const;
  /// Sends the exit code to all followers and runs the loop until they have disconnected or `seconds` have passed.
  void finish(int code, double seconds = 10);

  /// Adds a worker and returns its id in messages.
  std::int64_t attach(RemoteWorker& worker);
  void detach(std::int64_t worker);
  void send(int rank, const Json& message);
  const follower_protocol::Plan& plan_of_rank(int rank) const;
  const std::string& host_of_rank(int rank) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The address that the leader of a job listens on.
ListenAt listen_address(const LauncherEnvironment& launcher_env);

}  // namespace kymo::supervisor
