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

/// Contexts in which the nodes of CUDA graphs were captured. A lock suffices, because nodes are created rarely, but
/// hundreds at a time. Thread-safe.
class GraphNodes {
 public:
  /// `arena` must outlive this object; the memory of the nodes counts towards its limit.
  explicit GraphNodes(EventArena& arena) : arena_(arena) {}

  /// Records a node created by capture or explicitly. Counts it as dropped if there is no memory.
  void created(std::uint64_t node, const event::Position& position) noexcept;
  /// Called when a graph is cloned or instantiated: the copy of a node gets the context of its original.
  void cloned(std::uint64_t node, std::uint64_t original) noexcept;

  void take(std::vector<event::GraphNode>& nodes);
  /// Adds the nodes since the last call, also those whose number was used again.
  void add_new(std::vector<event::GraphNode>& nodes);
  std::int64_t dropped() const;
  /// Number of copies of nodes that were created before recording began.
  std::int64_t unmatched_originals() const;

 private:
  void put(std::uint64_t node, const event::Position& position) noexcept;

  EventArena& arena_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, event::Position> positions_;
  std::vector<std::uint64_t> new_;  // numbers since add_new()
  bool keeps_new_ = false;          // once it was called
  std::size_t capacity_ = 0;        // number of nodes charged to the arena
  std::int64_t dropped_ = 0;
  std::int64_t unmatched_originals_ = 0;
};

}  // namespace kymo::collect
