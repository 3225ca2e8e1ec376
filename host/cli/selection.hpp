// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/expand.hpp"
#include "cli/option_text.hpp"

/// Selection and order of the expanded cases. Pure functions.
namespace kymo::cli {

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

}  // namespace kymo::cli
