// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "cli/expand.hpp"
#include "cli/print.hpp"
#include "store/results.hpp"

/// `kymo run W --against PEER`: run the same case with another workload, interleaved, and show both side by side.
namespace kymo::cli {

/// The argument of --against: a workload and parameter values that apply to it only.
struct Peer {
  std::string workload;
  std::vector<std::pair<std::string, std::string>> set;
};

/// Parses "WORKLOAD" or "WORKLOAD:p=v,q=w"; the workload may be FILE.so:NAME, as on the command line. Throws
/// UsageError that names the option.
Peer peer_from(const std::string& text, const std::string& option = "--against");

/// Plan keys of a case and of its peer.
struct Pair {
  std::string of_case;
  std::string of_peer;
};

struct Rotation {
  std::vector<PlannedCase> cases;
  std::vector<Pair> pairs;
};

/// Inserts the peer's case after each case. Parameters that both workloads declare get the case's values; ranks, device
/// and method are the same. A peer case shared by several cases runs once. Throws UsageError if the peer does not
/// accept a value or if there is nothing to compare.
Rotation with_peer(std::vector<PlannedCase> cases, const Peer& peer, const catalog::Found& found,
                   const std::function<Gpus()>& gpus, MissingDevice missing);

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
Json against_rows(const Json& results, const WorkByRun& work, const std::vector<Pair>& pairs);
/// The rows as a table, with the sentences below it.
report::Document against_document(Json rows);
/// The verdict on each pair in words, with what distinguishes its case, then the warnings.
std::vector<std::string> against_sentences(const Json& rows);

}  // namespace kymo::cli
