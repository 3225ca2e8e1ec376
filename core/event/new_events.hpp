// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "event/trace.hpp"

namespace kymo::event {

/// An event and its index in the trace.
template <class Event>
struct Numbered {
  std::int32_t number = -1;
  Event event;
};

/// The events of a pass that runs, since the last time that they were asked for.
struct NewEvents {
  Texts texts;  ///< of all events of the pass so far
  std::vector<Numbered<Range>> ranges;
  std::vector<Numbered<Operator>> operators;
  std::vector<Numbered<Collective>> collectives;  ///< also those that have returned since the last time
};

/// Calls within the autograd engine's evaluation of a node belong to that node.
inline void pass_nodes_down(std::vector<Operator>& calls) {
  for (Operator& call : calls)  // parents come first
    if (!call.backward && call.parent >= 0)
      call.position.node = calls[static_cast<std::size_t>(call.parent)].position.node;
}

}  // namespace kymo::event
