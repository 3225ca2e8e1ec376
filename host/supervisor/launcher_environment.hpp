// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// The environment that torchrun and srun set for the processes they start.
namespace kymo::supervisor {

/// A job started by torchrun or srun, in which this process supervises one rank. Rank 0's supervisor is the leader; the
/// others follow it.
struct LauncherEnvironment {
  std::string launcher;  ///< "torchrun" or "srun"
  std::string identity;  ///< distinguishes this job from others that use the same port
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;
  int local_world_size = 1;    ///< ranks on this machine
  int gpu = 0;                 ///< index of this rank's GPU among the GPUs visible to this process
  int gpus_needed = 1;         ///< number of GPUs that must be visible to this process
  std::string leader_host;     ///< name or address of rank 0's machine
  std::uint16_t port = 0;      ///< port the leader listens on
  std::string token;           ///< KYMO_JOB_TOKEN, or empty
  double join_timeout_s = 30;  ///< how long ranks wait for each other at startup
  bool one_machine() const { return local_world_size == world_size; }
  bool leads() const { return rank == 0; }
  /// The host at which ranks reach the leader: the loopback interface if there is only one machine.
  std::string rendezvous_host() const { return one_machine() ? "127.0.0.1" : leader_host; }
};

/// Looks up an environment variable; nullptr if it is not set.
using Environment = std::function<const char*(const char*)>;
/// True if a host name can be resolved.
using Resolver = std::function<bool(const std::string&)>;

/// The job described by the environment; nullopt outside a job and for a job with one rank. Throws UsageError naming
/// the variable that is missing, malformed, out of range or inconsistent with another.
std::optional<LauncherEnvironment> read_launcher_environment(const Environment& environment, const Resolver& resolves);
/// The same for this process, using the system resolver.
std::optional<LauncherEnvironment> read_launcher_environment();

/// Expands a Slurm node list in order: "node[01-04,7],login" yields six hosts. Throws UsageError naming `variable`.
std::vector<std::string> expand_nodes(const std::string& list, const std::string& variable);

/// Expands Slurm's compact task counts per node: "2(x3),1" yields 2, 2, 2, 1. Throws UsageError naming `variable`.
std::vector<int> expand_tasks(const std::string& list, const std::string& variable);

}  // namespace kymo::supervisor
