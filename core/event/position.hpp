// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/enum_names.hpp"

namespace kymo::event {

using kymo::to_string;  // so that it is found by argument-dependent lookup

/// The autograd node that a thread executes, or the sequence number of the next node that it creates.
struct AutogradPosition {
  std::int64_t sequence =
      -1;  ///< autograd sequence number; -1 without a node or if the node has none (gradient accumulation)
  std::uint64_t thread = 0;  ///< LibTorch's id of the forward thread; sequence numbers are per thread
};

/// Execution context of an event, recorded by the thread that caused it.
struct Position {
  std::int32_t step = -1;
  std::int32_t phase = -1;        ///< index into Trace::phases
  std::int32_t range = -1;        ///< index into Trace::ranges: innermost open range on the thread
  std::uint32_t thread = 0;       ///< thread index from 0, in order of first use
  AutogradPosition node;          ///< node of the backward pass
  std::int64_t op = -1;           ///< index into Trace::operators: innermost active operator on the thread
  std::int32_t stack = -1;        ///< index into Memory::stacks: Python stack of the thread
  bool stack_of_forward = false;  ///< it is the stack of the operator that created the node; set by analysis
};

/// How the phase and scope of an event were determined.
enum class Attribution : std::uint8_t {
  kNone,      ///< unknown phase
  kPhase,     ///< phase of the launch; unknown scope
  kLaunch,    ///< scope that was open on the launching thread
  kAutograd,  ///< forward scope that created the backward node
  kGraph,     ///< context in which the graph node was captured
  kFused,     ///< set of modules that a compiler fused; the scope names all of them
};
constexpr auto names_of(Attribution) {
  using enum Attribution;
  return enum_names<Attribution>("attribution", {{kNone, "none"},
                                                 {kPhase, "phase"},
                                                 {kLaunch, "launch"},
                                                 {kAutograd, "autograd"},
                                                 {kGraph, "graph"},
                                                 {kFused, "fused"}});
}

}  // namespace kymo::event
