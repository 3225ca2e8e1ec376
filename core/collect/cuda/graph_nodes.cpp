// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/graph_nodes.hpp"

#include <new>

namespace kymo::collect {
namespace {

// A map entry with its links and its share of the buckets.
constexpr std::size_t kNodeBytes = 2 * sizeof(event::GraphNode);
constexpr std::size_t kNodesAtOnce = 512;

}  // namespace

void GraphNodes::put(std::uint64_t node, const event::Place& place) noexcept {
  if (const auto known = places_.find(node); known != places_.end()) {
    known->second = place;
    return;
  }
  if (places_.size() == room_) {
    // Charge the arena without touching its pages, so that one limit applies to all events.
    if (!arena_.take_high(kNodesAtOnce * kNodeBytes)) {
      ++lost_;
      return;
    }
    room_ += kNodesAtOnce;
  }
  try {
    places_.emplace(node, place);
  } catch (const std::bad_alloc&) {
    ++lost_;
  }
}

void GraphNodes::created(std::uint64_t node, const event::Place& place) noexcept {
  const std::lock_guard lock(mutex_);
  put(node, place);
}

void GraphNodes::cloned(std::uint64_t node, std::uint64_t original) noexcept {
  const std::lock_guard lock(mutex_);
  const auto known = places_.find(original);
  if (known == places_.end()) {
    ++unknown_originals_;
    return;
  }
  const event::Place place = known->second;
  if (node != original) put(node, place);
}

void GraphNodes::take(std::vector<event::GraphNode>& nodes) {
  const std::lock_guard lock(mutex_);
  nodes.reserve(nodes.size() + places_.size());
  for (const auto& [node, place] : places_) nodes.push_back({node, place});
}

std::int64_t GraphNodes::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

std::int64_t GraphNodes::unknown_originals() const {
  const std::lock_guard lock(mutex_);
  return unknown_originals_;
}

}  // namespace kymo::collect
