// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/ab_candidates.hpp"
#include "cli/ab_experiment.hpp"
#include "cli/run_options.hpp"
#include "store/results.hpp"

namespace kymo::cli {

/// How the results of `kymo ab` are shown.
struct AbReport {
  std::vector<std::string> names;  ///< of the candidates
  double max_time_s = 60;
  double margin = 0;
  bool fail_on_slower = false;
  CandidateKind kind = CandidateKind::kWorkloads;
  bool in_shell = false;  ///< whole commands are run by a shell

  bool of_commands() const { return kind == CandidateKind::kWholeCommands; }
};

/// Prints the verdicts with the results of the candidates, or JSON. Returns the exit code, from that of the runs.
int report_verdicts(const Experiment& experiment, const AbReport& report, const RunOptions& options,
                    const store::ResultsDatabase& database, std::int64_t invocation, int code);

}  // namespace kymo::cli
