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
#include "cli/text_table.hpp"
#include "store/results.hpp"

/// `kymo run W --against PEER`: the same case of another workload, made in turn with it and shown beside it.
namespace kymo::cli {

/// What --against names: a workload and the parameters that are fixed for it alone.
struct Peer {
  std::string workload;
  std::vector<std::pair<std::string, std::string>> set;
};

/// "WORKLOAD" or "WORKLOAD:p=v,q=w"; the workload as on the command line, FILE.so:NAME too. Throws UsageError.
Peer peer_from(const std::string& text);

/// Plan keys of a case and of its peer.
struct Pair {
  std::string of_case;
  std::string of_peer;
};

struct Rotation {
  std::vector<PlannedCase> cases;
  std::vector<Pair> pairs;
};

/// Puts the peer's case behind each case: what the peer declares of the case's parameters has the same value there,
/// ranks, device and method are the same. A peer's case that several cases share is made once. Throws UsageError for a
/// value that the peer does not admit, and if there is nothing to compare.
Rotation with_peer(std::vector<PlannedCase> cases, const Peer& peer, const catalog::Found& found,
                   const std::function<Gpus()>& gpus, MissingDevice missing);

/// Operations and bytes of one step over all ranks, as declared; 0 = not declared.
struct DeclaredWork {
  double flops = 0;
  double bytes = 0;
};
using WorkByRun = std::map<std::int64_t, DeclaredWork>;
WorkByRun declared_work(const store::ResultsDatabase& database, std::int64_t invocation_id);

/// Two objects per pair, the case's first: runs that ended well, median_ns (over the medians of their steps), rates of
/// declared work, and `ratio`: the time over that of the case. What is not known is null. `results` is what
/// invocation_results() gives.
Json against_rows(const Json& results, const WorkByRun& work, const std::vector<Pair>& pairs);
TextTable against_table(const Json& rows);

}  // namespace kymo::cli
