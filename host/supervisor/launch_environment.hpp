// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// What torchrun and srun tell the processes that they start.
namespace kymo::supervisor {

/// This process is the supervisor of one rank of a launch of several; rank 0's is the leader, the others follow it.
struct Launch {
  std::string launcher;  ///< "torchrun" or "srun"
  std::string identity;  ///< tells this job from another one that uses the same port
  int rank = 0;
  int world = 1;
  int local_rank = 0;
  int local_world = 1;         ///< ranks on this machine
  int gpu = 0;                 ///< which of the GPUs that this process sees is its rank's
  int gpus_needed = 1;         ///< how many GPUs this process must see
  std::string leader_host;     ///< name or address of rank 0's machine
  std::uint16_t port = 0;      ///< on which the leader listens
  std::string token;           ///< KYMO_JOB_TOKEN, or empty
  double join_timeout_s = 30;  ///< how long ranks wait for each other at the start
  bool one_machine() const { return local_world == world; }
  bool leads() const { return rank == 0; }
  /// The host that ranks reach the leader by: the loopback interface if there is one machine.
  std::string meeting_host() const { return one_machine() ? "127.0.0.1" : leader_host; }
};

/// Looks up a variable; nullptr if it is not set.
using Environment = std::function<const char*(const char*)>;
/// True if a host name has an address.
using Resolver = std::function<bool(const std::string&)>;

/// The launch that the variables describe; nullopt in a plain shell and where there is one rank.
/// Throws UsageError naming the variable that is missing, no number, out of range or contradicted by another.
std::optional<Launch> read_launch(const Environment& environment, const Resolver& resolves);
/// Of this process, with the resolver of the system.
std::optional<Launch> read_launch();

/// The hosts of a Slurm node list in order: "node[01-04,7],login" has six. Throws UsageError naming `variable`.
std::vector<std::string> expand_nodes(const std::string& list, const std::string& variable);

/// The tasks on each node from Slurm's short form: "2(x3),1" is 2, 2, 2, 1. Throws UsageError naming `variable`.
std::vector<int> expand_tasks(const std::string& list, const std::string& variable);

}  // namespace kymo::supervisor
