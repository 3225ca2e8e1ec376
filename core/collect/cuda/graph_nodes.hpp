// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "collect/event_log/event_arena.hpp"
#include "event/trace.hpp"

namespace kymo::collect {

/// Where the nodes of CUDA graphs were captured. Nodes come by the hundred and seldom: a lock suits. Safe for use from
/// any thread.
class GraphNodes {
 public:
  /// `arena` must outlive this; what the nodes take counts against it.
  explicit GraphNodes(EventArena& arena) : arena_(arena) {}

  /// A node was made, by capture or by hand. Counts it as lost if there is no room.
  void created(std::uint64_t node, const event::Place& place) noexcept;
  /// A graph was copied or instantiated: the copy of a node keeps the place of its original.
  void cloned(std::uint64_t node, std::uint64_t original) noexcept;

  void take(std::vector<event::GraphNode>& nodes);
  std::int64_t lost() const;
  /// Copies of nodes that were made before anyone watched.
  std::int64_t unknown_originals() const;

 private:
  void put(std::uint64_t node, const event::Place& place) noexcept;

  EventArena& arena_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, event::Place> places_;
  std::size_t room_ = 0;  // nodes that the arena has been charged for
  std::int64_t lost_ = 0;
  std::int64_t unknown_originals_ = 0;
};

}  // namespace kymo::collect
