// SPDX-License-Identifier: Apache-2.0
#include "supervisor/missing_collective.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/text.hpp"

namespace kymo::supervisor {
namespace {

using measure::BegunCollective;
using measure::StatusPage;
using measure::WorkerStatus;

bool is_same(const BegunCollective& first, const BegunCollective& second) {
  return first.communicator == second.communicator && first.sequence == second.sequence &&
         first.operation == second.operation;
}

bool has_begun(const WorkerStatus& rank, const BegunCollective& call) {
  return std::ranges::any_of(rank.last_collectives, [&](const BegunCollective& each) {
    return each.communicator == call.communicator && each.sequence >= call.sequence;
  });
}

bool knows(const WorkerStatus& rank, const std::string& communicator) {
  return std::ranges::any_of(rank.last_collectives,
                             [&](const BegunCollective& each) { return each.communicator == communicator; });
}

/// Whether none of the rank's calls was forgotten, so that it began no others.
bool is_complete(const WorkerStatus& rank) {
  return rank.collectives_begun == static_cast<std::int64_t>(rank.last_collectives.size());
}

std::vector<std::string> ranks_in(const BegunCollective& call,
                                  const std::vector<std::optional<WorkerStatus>>& statuses) {
  std::vector<std::string> names;
  for (std::size_t rank = 0; rank < statuses.size(); ++rank) {
    if (!statuses[rank]) continue;
    const auto& calls = statuses[rank]->last_collectives;
    if (std::ranges::any_of(calls, [&](const BegunCollective& each) { return is_same(each, call); }))
      names.push_back("rank " + std::to_string(rank));
  }
  return names;
}

}  // namespace

std::string describe(const BegunCollective& call) {
  const std::string communicator = call.communicator.empty() ? "" : " of communicator " + quote(call.communicator);
  return call.operation + " " + std::to_string(call.sequence) + communicator + " (" + format_bytes(call.bytes) + ")";
}

std::string missing_collective(int rank, int ranks, const std::function<std::optional<WorkerStatus>(int)>& status_of) {
  std::vector<std::optional<WorkerStatus>> others;
  for (int other = 0; other < ranks; ++other) others.push_back(other == rank ? std::nullopt : status_of(other));
  const std::optional<WorkerStatus> own = status_of(rank);
  if (!own) return "";
  const BegunCollective* first = nullptr;
  for (const std::optional<WorkerStatus>& other : others) {
    if (!other) continue;
    for (const BegunCollective& call : other->last_collectives) {
      if (has_begun(*own, call) || (first && first->number <= call.number)) continue;
      const bool all_others = ranks_in(call, others).size() + 1 == others.size();
      if (knows(*own, call.communicator) || (is_complete(*own) && all_others)) first = &call;
    }
  }
  if (!first) return "";
  const std::vector<std::string> in = ranks_in(*first, others);
  return "rank " + std::to_string(rank) + " did not join " + describe(*first) + ", in which " + join(in, " and ") +
         (in.size() == 1 ? " is" : " are");
}

}  // namespace kymo::supervisor
