// SPDX-License-Identifier: Apache-2.0
#include "cli/selection.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/regex.hpp"

namespace kymo::cli {

std::vector<PlannedCase> matching(std::vector<PlannedCase> cases, const std::string& expression) {
  const Regex regex("--filter", expression);
  std::erase_if(cases, [&](const PlannedCase& planned) { return !regex.found_in(full_title(planned.run)); });
  if (cases.empty())
    throw UsageError("--filter " + quote(expression) +
                     " matches no case; list all cases with --plan and without --filter");
  return cases;
}

std::vector<PlannedCase> shard_of(std::vector<PlannedCase> cases, Shard shard) {
  std::vector<PlannedCase> part;
  for (std::size_t index = static_cast<std::size_t>(shard.index) - 1; index < cases.size();
       index += static_cast<std::size_t>(shard.count)) {
    part.push_back(std::move(cases[index]));
  }
  return part;
}

std::vector<supervisor::PlannedRun> repeated(const std::vector<PlannedCase>& cases) {
  std::int64_t most = 0;
  for (const PlannedCase& planned : cases) most = std::max(most, planned.repeat);
  std::vector<supervisor::PlannedRun> runs;
  for (std::int64_t repetition = 0; repetition < most; ++repetition) {
    for (const PlannedCase& planned : cases) {
      if (repetition >= planned.repeat) continue;
      runs.push_back(planned.run);
      runs.back().repetition = static_cast<int>(repetition);
    }
  }
  return runs;
}

std::vector<supervisor::PlannedRun> unfinished(std::vector<supervisor::PlannedRun> runs,
                                               const std::function<int(const std::string& plan_key)>& finished) {
  std::map<std::string, int> left;
  std::erase_if(runs, [&](const supervisor::PlannedRun& run) {
    const std::string key = measure::plan_key(run.what, run.method);
    const auto [position, is_new] = left.try_emplace(key, 0);
    if (is_new) position->second = finished(key);
    return position->second-- > 0;
  });
  return runs;
}

}  // namespace kymo::cli
