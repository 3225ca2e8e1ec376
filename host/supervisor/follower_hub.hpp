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
#include "supervisor/launch_environment.hpp"

namespace kymo::supervisor {

class RemoteProcess;

/// The leader's end of the links to all followers of a launch. Lives in the thread that runs the event loop.
class FollowerHub {
 public:
  /// `signalled` is told that the user ends a follower, with the number of the signal.
  FollowerHub(boost::asio::io_context& loop, const Launch& launch, follower_protocol::Plan plan,
              std::function<void(int rank, int signal)> signalled);
  /// Closes all links: followers that were not told to finish take it for the end of the leader.
  ~FollowerHub();
  FollowerHub(const FollowerHub&) = delete;
  FollowerHub& operator=(const FollowerHub&) = delete;

  /// Somebody connected and said this first. Takes the socket over; whoever is no follower of this launch is refused
  /// and told why.
  void take(int socket, const Json& first);
  /// Runs the loop until every follower has joined, or `stop` says so. Throws Error naming the ranks that are missing
  /// when the launch's time is over, or why a rank does not fit (another version, another plan).
  void gather(const std::function<bool()>& stop);
  /// Why a rank that had joined can no longer be reached; empty while it can.
  const std::string& lost(int rank) const;
  /// No rank is lost.
  bool intact() const;
  /// Tells all followers the exit code, and runs the loop until they are gone or `seconds` have passed.
  void finish(int code, double seconds = 10);

  // For RemoteProcess.

  std::int64_t attach(RemoteProcess& process);
  void detach(std::int64_t worker);
  void send(int rank, const Json& message);
  const follower_protocol::Plan& plan_of_rank(int rank) const;
  const std::string& host_of_rank(int rank) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Where the leader of a launch listens.
ListenAt listening_place(const Launch& launch);

}  // namespace kymo::supervisor
