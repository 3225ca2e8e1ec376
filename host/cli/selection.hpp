// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/expand.hpp"
#include "cli/option_text.hpp"

/// Which of the expanded cases are made, and in what order. Pure functions.
namespace kymo::cli {

/// Keeps the cases whose full title holds a match of the regular expression.
/// Throws UsageError for a malformed expression and when nothing is left.
std::vector<PlannedCase> matching(std::vector<PlannedCase> cases, const std::string& expression);

/// Every n-th case from the i-th on, so that shards are alike in what they hold and together hold everything once.
std::vector<PlannedCase> shard_of(std::vector<PlannedCase> cases, Shard shard);

/// Each case as often as it asks for, interleaved: every case once, then every case a second time, and so on.
std::vector<supervisor::PlannedRun> repeated(const std::vector<PlannedCase>& cases);

/// Leaves out as many runs of each plan key as `finished` says are there already.
std::vector<supervisor::PlannedRun> unfinished(std::vector<supervisor::PlannedRun> runs,
                                               const std::function<int(const std::string& plan_key)>& finished);

}  // namespace kymo::cli
