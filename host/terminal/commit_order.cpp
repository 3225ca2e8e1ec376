// SPDX-License-Identifier: Apache-2.0
#include "terminal/commit_order.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace kymo::terminal {
namespace {

std::vector<std::size_t> by_repository(const std::vector<StoredCommit>& commits,
                                       const std::vector<std::string>& known) {
  std::map<std::string, std::size_t> positions;
  for (const std::string& hash : known) positions.try_emplace(hash, positions.size());
  std::vector<std::size_t> order(commits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!std::ranges::all_of(commits, [&](const StoredCommit& each) { return positions.contains(each.hash); })) return {};
  std::ranges::sort(order, {}, [&](std::size_t i) { return positions.at(commits[i].hash); });
  return order;
}

}  // namespace

std::vector<std::size_t> commit_order(const std::vector<StoredCommit>& commits, const std::vector<std::string>& known) {
  if (std::vector<std::size_t> order = by_repository(commits, known); !order.empty()) return order;
  std::map<std::string, std::size_t> indices;
  for (std::size_t i = 0; i < commits.size(); ++i) indices.emplace(commits[i].hash, i);
  std::vector<std::size_t> waits_for(commits.size());
  std::vector<std::vector<std::size_t>> children(commits.size());
  for (std::size_t i = 0; i < commits.size(); ++i) {
    for (const std::string& parent : commits[i].parents) {
      const auto found = indices.find(parent);
      if (found == indices.end()) continue;
      children[found->second].push_back(i);
      ++waits_for[i];
    }
  }
  const auto earlier = [&](std::size_t left, std::size_t right) {
    return std::tie(commits[left].committed_at, commits[left].hash, left) <
           std::tie(commits[right].committed_at, commits[right].hash, right);
  };
  std::set<std::size_t, decltype(earlier)> ready(earlier);
  for (std::size_t i = 0; i < commits.size(); ++i)
    if (waits_for[i] == 0) ready.insert(i);
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t next = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(next);
    for (const std::size_t child : children[next])
      if (--waits_for[child] == 0) ready.insert(child);
  }
  return order;
}

}  // namespace kymo::terminal
