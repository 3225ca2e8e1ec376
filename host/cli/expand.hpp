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

/// What the choice of a device needs to know.
struct Gpus {
  int count = 0;
  std::string reason;  ///< why there is none
  std::int64_t most_needed =
      std::numeric_limits<std::int64_t>::max();  ///< ranks of any run that this process sees the GPUs of
};

/// What a case becomes where its device is missing.
enum class MissingDevice { kUsageError, kSkippedRun };

/// A planned run and how often it is to be made.
struct PlannedCase {
  supervisor::PlannedRun run;
  std::int64_t repeat = 1;
};

/// All cases of a specification: ranks vary slowest, then the axes in their order, then the warm-up.
/// `gpus` is asked only where the answer matters. Throws UsageError for what the workload does not admit and for more
/// than kMaxCases cases.
std::vector<PlannedCase> expand(const CaseSpec& spec, const catalog::Plugin& plugin, const catalog::Workload& workload,
                                const std::function<Gpus()>& gpus, MissingDevice missing);

/// "workload p=v q=w" with every parameter, preceded by the name of the suite's case: what --filter matches.
std::string full_title(const supervisor::PlannedRun& run);

}  // namespace kymo::cli
