// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "plan/expand.hpp"

/// `kymo run W --against PEER`: run the same case with another workload, interleaved.
namespace kymo::plan {

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

struct InterleavedCases {
  std::vector<PlannedCase> cases;
  std::vector<Pair> pairs;
};

/// Inserts the peer's case after each case. Parameters that both workloads declare get the case's values; ranks, device
/// and method are the same. A peer case shared by several cases runs once. Throws UsageError if the peer does not
/// accept a value or if there is nothing to compare.
InterleavedCases with_peer(std::vector<PlannedCase> cases, const Peer& peer, const catalog::Found& found,
                           const std::function<Gpus()>& gpus, MissingDevice missing);

}  // namespace kymo::plan
