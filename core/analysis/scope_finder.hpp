// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "event/trace.hpp"

namespace kymo::analysis {

/// Finds the forward scope that created a node of the backward pass. On a forward thread, the nodes created within a
/// scope have the sequence numbers [first_node.sequence, end_sequence). These intervals nest like the scopes, and
/// intervals of different steps are disjoint because sequence numbers only increase. A scope without an end extends to
/// the end of the enclosing scope, or indefinitely.
class ForwardScopes {
 public:
  explicit ForwardScopes(const std::vector<event::Range>& ranges);

  /// Returns the innermost scope (index into the ranges) whose interval contains the node's sequence number, or -1.
  /// Logarithmic time; constant if the number is near that of the previous call.
  std::int32_t scope_of(const event::AutogradPosition& node);

 private:
  /// `range` is the innermost scope from this number up to that of the next element.
  struct Span {
    std::int64_t first = 0;
    std::int32_t range = -1;
  };
  struct Thread {
    std::uint64_t number = 0;
    std::vector<Span> spans;
    std::size_t last = 0;  ///< index of the previous result
  };
  std::vector<Thread> threads_;  // sorted by thread id
};

/// The attributed scope of an event and how it was determined.
struct ScopeAttribution {
  event::Attribution attribution = event::Attribution::kNone;
  event::TextId scope = event::kNoText;
};

/// Attributes events by the context that their thread recorded, as documented at attribute(). Invalid indices in a
/// context count as none.
class ScopeFinder {
 public:
  /// The trace's ranges and phases must outlive this object.
  explicit ScopeFinder(const event::Trace& trace) : trace_(trace), forward_(trace.ranges) {}

  ScopeAttribution locate(const event::Position& position);
  /// Returns the phase if the index is valid, else -1.
  std::int32_t phase(const event::Position& position) const {
    return position.phase >= 0 && static_cast<std::size_t>(position.phase) < trace_.phases.size() ? position.phase : -1;
  }

 private:
  event::TextId path(std::int32_t range) const {
    return range >= 0 && static_cast<std::size_t>(range) < trace_.ranges.size()
               ? trace_.ranges[static_cast<std::size_t>(range)].path
               : event::kNoText;
  }

  const event::Trace& trace_;
  ForwardScopes forward_;
};

}  // namespace kymo::analysis
