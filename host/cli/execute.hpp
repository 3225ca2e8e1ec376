// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/run_options.hpp"
#include "plan/case_spec.hpp"
#include "plan/peer.hpp"
#include "plan/targets.hpp"

namespace kymo::cli {

/// How the number of ranks of a case is determined under torchrun or srun.
enum class Ranks {
  kAsStated,     ///< the case's own number; a case with more ranks than the job is skipped
  kOfLauncher,   ///< all ranks of the job
  kStartedHere,  ///< the case's own number, all started by this process; the torchrun or Slurm environment is ignored
};

/// The cases that a command requests.
struct Invocation {
  std::vector<plan::CaseSpec> specs;
  plan::MissingDevice missing = plan::MissingDevice::kUsageError;
  Ranks ranks = Ranks::kAsStated;
  std::optional<plan::Peer> against = std::nullopt;  ///< workload to interleave with each case
  std::string device_uuid = {};                      ///< if not empty, --resume counts only runs on this device
  bool show_results = true;                          ///< print the results; otherwise only what failed
};

/// Expands, selects and executes the runs, prints the results and returns the exit code. Nothing is written before the
/// whole order has been validated.
int execute(const Invocation& invocation, plan::Targets& targets, const RunOptions& options,
            const std::string& command_line);

/// Executes the runs of an invocation, and ends the invocation with its exit code, also if it throws. Throws Error.
supervisor::Summary execute_invocation(store::ResultsDatabase& database, std::int64_t invocation,
                                       const std::vector<supervisor::PlannedRun>& runs,
                                       const supervisor::Options& options,
                                       const std::function<int(const supervisor::Summary&)>& code_of);

/// Does the same and shows the progress. `limit` may change what is shown, where other limits than the number of runs
/// apply. Throws Error.
supervisor::Summary execute_planned(store::ResultsDatabase& database, std::int64_t invocation,
                                    const std::vector<supervisor::PlannedRun>& runs, supervisor::Options options,
                                    bool fail_on_oom, const std::function<void(supervisor::ProgressView&)>& limit = {});

/// The exit code for an invocation with these finished runs.
int exit_code(const supervisor::Summary& summary, bool fail_on_oom);

}  // namespace kymo::cli
