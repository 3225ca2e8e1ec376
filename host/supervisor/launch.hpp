// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/process.hpp"
#include "supervisor/pass_state.hpp"
#include "supervisor/supervisor.hpp"

/// What tests exchange: how workers are started, and how long they are waited for.
namespace kymo::supervisor {

/// Name of the environment variable that hands a worker its token, out of sight of other users.
inline constexpr const char* kTokenVariable = "KYMO_WORKER_TOKEN";

struct LaunchRequest {
  const PlannedRun& run;
  int rank = 0;
  std::uint16_t port = 0;  ///< of the control server
  std::string token;
  std::string host = "127.0.0.1";  ///< of the control server
  bool shares_cores = true;        ///< with the other ranks; a launcher of processes divides the machine itself
};
/// The command of one worker; throws Error if it cannot be made up.
using Launcher = std::function<SpawnOptions(const LaunchRequest&)>;

/// `<wrap words> <this program> worker --connect HOST:PORT --rank R`, with the library path that the plugin needs.
SpawnOptions kymo_worker(const LaunchRequest& request);

struct Conditions {
  Launcher launcher = kymo_worker;
  PassLimits limits;             ///< time-out and memory bound come from each run's method
  double exit_grace_s = 10;      ///< for a worker that was told to exit
  double wrapped_grace_s = 120;  ///< the same under --wrap: profilers write their reports then
};

/// make_runs with all that it takes for granted.
Summary make_runs(store::ResultsDatabase& database, std::int64_t invocation_id, const std::vector<PlannedRun>& runs,
                  const Options& options, const Conditions& setup);

}  // namespace kymo::supervisor
