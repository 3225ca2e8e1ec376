// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/graph_nodes.hpp"

#include <new>

namespace kymo::collect {
namespace {

// A map entry with its links and its share of the buckets.
constexpr std::size_t kNodeBytes = 2 * sizeof(event::GraphNode);
constexpr std::size_t kNodesAtOnce = 512;

}  // namespace

void GraphNodes::put(std::uint64_t node, const event::Position& position) noexcept {
  if (const auto known = positions_.find(node); known != positions_.end()) {
    known->second = position;
    if (keeps_new_) new_.push_back(node);
    return;
  }
  if (positions_.size() == capacity_) {
    // Charge the arena without touching its pages, so that one limit applies to all events.
    if (!arena_.take_high(kNodesAtOnce * kNodeBytes)) {
      ++dropped_;
      return;
    }
    capacity_ += kNodesAtOnce;
  }
  try {
    positions_.emplace(node, position);
    if (keeps_new_) new_.push_back(node);
  } catch (const std::bad_alloc&) {
    ++dropped_;
  }
}

void GraphNodes::created(std::uint64_t node, const event::Position& position) noexcept {
  const std::lock_guard lock(mutex_);
  put(node, position);
}

void GraphNodes::cloned(std::uint64_t node, std::uint64_t original) noexcept {
  const std::lock_guard lock(mutex_);
  const auto known = positions_.find(original);
  if (known == positions_.end()) {
    ++unmatched_originals_;
    return;
  }
  const event::Position position = known->second;
  if (node != original) put(node, position);
}

void GraphNodes::take(std::vector<event::GraphNode>& nodes) {
  const std::lock_guard lock(mutex_);
  nodes.reserve(nodes.size() + positions_.size());
  for (const auto& [node, position] : positions_) nodes.push_back({node, position});
}

void GraphNodes::add_new(std::vector<event::GraphNode>& nodes) {
  const std::lock_guard lock(mutex_);
  if (!keeps_new_)
    for (const auto& [node, position] : positions_) nodes.push_back({node, position});
  for (const std::uint64_t node : new_) nodes.push_back({node, positions_.at(node)});
  new_.clear();
  keeps_new_ = true;
}

std::int64_t GraphNodes::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

std::int64_t GraphNodes::unmatched_originals() const {
  const std::lock_guard lock(mutex_);
  return unmatched_originals_;
}

}  // namespace kymo::collect
