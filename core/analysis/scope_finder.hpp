// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "event/trace.hpp"

namespace kymo::analysis {

/// Finds the forward scope that made a node of the backward pass. On one forward thread the nodes made within a scope
/// have the sequence numbers [first_node.sequence, end_sequence); such stretches nest as the scopes do, and those of
/// different steps lie apart because numbers only grow. A scope that never ended reaches to the end of the scope around
/// it, or for ever.
class ForwardScopes {
 public:
  explicit ForwardScopes(const std::vector<event::Range>& ranges);

  /// The innermost scope (index into the ranges) in whose stretch the node's number lies, or -1. Logarithmic; constant
  /// where the number lies near the one asked for before.
  std::int32_t scope_of(const event::AutogradPosition& node);

 private:
  /// From this number up to that of the next stretch, `range` is the innermost scope.
  struct Stretch {
    std::int64_t first = 0;
    std::int32_t range = -1;
  };
  struct Thread {
    std::uint64_t number = 0;
    std::vector<Stretch> stretches;
    std::size_t last = 0;  ///< where the last answer was found
  };
  std::vector<Thread> threads_;  // in order of number
};

/// Where an event belongs.
struct Placement {
  event::Attribution attribution = event::Attribution::kNone;
  event::TextId scope = event::kNoText;
};

/// Places events by the note that their thread made, as attribute() documents. Numbers in a place that point nowhere
/// count as none.
class ScopeFinder {
 public:
  /// The trace's ranges and phases must outlive the finder.
  explicit ScopeFinder(const event::Trace& trace) : trace_(trace), forward_(trace.ranges) {}

  Placement place(const event::Place& place);
  /// The phase if there is one of that number, else -1.
  std::int32_t phase(const event::Place& place) const {
    return place.phase >= 0 && static_cast<std::size_t>(place.phase) < trace_.phases.size() ? place.phase : -1;
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
