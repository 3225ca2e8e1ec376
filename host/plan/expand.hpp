// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "catalog/catalog.hpp"
#include "plan/case_spec.hpp"
#include "plan/option_text.hpp"
#include "supervisor/supervisor.hpp"

/// Expansion of cases, and selection and order of the expanded cases: pure functions.
namespace kymo::plan {

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

/// Keeps the cases whose full title matches the regular expression. Throws UsageError for a malformed expression and if
/// no case matches.
std::vector<PlannedCase> matching(std::vector<PlannedCase> cases, const std::string& expression);

/// Every n-th case starting at the i-th, so that shards have similar content and partition the cases.
std::vector<PlannedCase> shard_of(std::vector<PlannedCase> cases, Shard shard);

/// Repeats each case as often as requested, interleaved: every case once, then every case a second time, and so on.
std::vector<supervisor::PlannedRun> repeated(const std::vector<PlannedCase>& cases);

/// For each plan key, removes as many runs as `finished` reports to be in the database.
std::vector<supervisor::PlannedRun> unfinished(std::vector<supervisor::PlannedRun> runs,
                                               const std::function<int(const std::string& plan_key)>& finished);

}  // namespace kymo::plan
