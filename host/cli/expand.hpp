// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "catalog/catalog.hpp"
#include "cli/case_spec.hpp"
#include "supervisor/supervisor.hpp"

namespace kymo::cli {

/// Information needed to choose a device.
struct Gpus {
  int count = 0;
  std::string reason;                                                  ///< why there is no GPU
  std::int64_t max_needed = std::numeric_limits<std::int64_t>::max();  ///< maximum number of ranks per run that use
                                                                       ///< GPUs visible to this process
};

/// How a case with a missing device is handled.
enum class MissingDevice { kUsageError, kSkippedRun };

/// A planned run and its number of repetitions.
struct PlannedCase {
  supervisor::PlannedRun run;
  std::int64_t repeat = 1;
};

/// Expands a specification into all cases: ranks vary slowest, then the axes in their order, then the warm-up. `gpus`
/// is called only if the result depends on it. Throws UsageError for values the workload does not accept and for more
/// than kMaxCases cases.
std::vector<PlannedCase> expand(const CaseSpec& spec, const catalog::Plugin& plugin, const catalog::Workload& workload,
                                const std::function<Gpus()>& gpus, MissingDevice missing);

/// "workload p=v q=w" with every parameter, preceded by the name of the suite's case. --filter matches this text.
std::string full_title(const supervisor::PlannedRun& run);

}  // namespace kymo::cli
