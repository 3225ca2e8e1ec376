// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "plan/peer.hpp"
#include "report/document.hpp"
#include "store/results.hpp"

/// `kymo run W --against PEER`: the same case with two workloads, side by side.
namespace kymo::terminal {

/// Declared operations and bytes of one step per rank; 0 = not declared.
struct DeclaredWork {
  double flops = 0;
  double bytes = 0;
};
using WorkByRun = std::map<std::int64_t, DeclaredWork>;
WorkByRun declared_work(const store::ResultsDatabase& database, std::int64_t invocation_id);

/// Why two workloads may not do the same work, from objects with `workload`, `family` and `parameters`: they declare
/// different numbers of operations or, if one declares none, have different parameters and not the same family. Empty
/// if nothing is known against it.
std::string unlike_work(const Json& first, const DeclaredWork& of_first, const Json& second,
                        const DeclaredWork& of_second);

/// Returns two objects per pair, the case's first: number of successful runs, `statistic` (what both sides are compared
/// by, mean or median), time_ns (median over the runs of it), median_ns and mean_ns (the same of medians and means),
/// unlike_steps, number of ranks, `warning` of unlike_work(), rates of the declared work per rank at time_ns, algbw and
/// busbw of a collective, and `ratio` (time relative to the case); the peer's also contains the interval of the ratio
/// and the verdict of measure::compare(), with a `sentence`, and `by_other` with an `other_sentence` if the other
/// statistic leads to another conclusion. Unknown values are null. `results` is the output of invocation_results().
Json against_rows(const Json& results, const WorkByRun& work, const std::vector<plan::Pair>& pairs);
/// The rows as a table, with the sentences below it.
report::Document against_document(Json rows);
/// The verdict on each pair in words, with what distinguishes its case, then the warnings.
std::vector<std::string> against_sentences(const Json& rows);

}  // namespace kymo::terminal
