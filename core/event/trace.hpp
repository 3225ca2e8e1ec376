// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "event/collective.hpp"
#include "event/gpu_events.hpp"
#include "event/position.hpp"
#include "event/texts.hpp"

/// Records of the trace and ops passes. Collectors fill them, analysis attributes each event to a phase and scope, and
/// the store writes them. Times are nanoseconds on the host clock, relative to the start of the run. The value -1 means
/// none.
namespace kymo::event {

/// An instance of a phase or a scope, identified by its index in Trace::ranges.
struct Range {
  bool is_phase = false;
  std::int32_t parent = -1;  ///< enclosing range on the same thread
  TextId name = kNoText;
  TextId path = kNoText;  ///< names of the enclosing scopes and its own, joined by '/'; kNoText for a phase
  std::int32_t step = -1;
  std::int32_t phase = -1;
  std::uint32_t thread = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = -1;     ///< -1 if it did not end
  AutogradPosition first_node;  ///< position of the next node on this thread at the begin of the range
  std::int64_t end_sequence =
      -1;  ///< sequence number of the next node at the end; nodes created within the range have numbers in between
};

/// A LibTorch operator call, identified by its index in Trace::operators.
struct Operator {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = -1;  ///< -1 if it did not end
  std::int64_t parent = -1;
  TextId name = kNoText;
  TextId shapes = kNoText;
  bool backward = false;
  Position position;           ///< position.node is the executing node; position.op is unused
  std::int64_t sequence = -1;  ///< sequence number shared by a forward operator and its backward node

  // Set by analysis::attribute().
  Attribution attribution = Attribution::kNone;
  TextId scope = kNoText;
  std::int64_t self_ns = 0;
};

/// The Python stack of the operator that created a node of an autograd graph. Of several records of a node, the last
/// one counts, because an operator that creates none has the number of the next node, too.
struct NodeStack {
  AutogradPosition node;
  std::int64_t stack = -1;  ///< index into Memory::stacks
};

/// All records of a pass that consist of events.
struct Trace : GpuEvents {
  Texts texts;
  std::vector<std::string> phases;  ///< names, in declaration order
  std::vector<Range> ranges;
  /// Paths of modules within compiled code, which are not those of a range. Set by analysis.
  std::vector<TextId> compiled_paths;
  std::vector<Operator> operators;
  std::vector<Collective> collectives;  ///< in call order
  std::vector<NodeStack> node_stacks;   ///< in order of the calls of each thread

  /// Index of the phase of this name, or -1.
  std::int32_t phase_named(std::string_view name) const {
    const auto found = std::ranges::find(phases, name);
    return found == phases.end() ? -1 : static_cast<std::int32_t>(found - phases.begin());
  }
};

/// Phase name of activations that are computed again for the backward pass, which it interrupts.
inline constexpr const char* kRecomputePhase = "recompute";

/// Calls within the autograd engine's evaluation of a node belong to that node.
inline void pass_nodes_down(std::vector<Operator>& calls) {
  for (Operator& call : calls)  // parents come first
    if (!call.backward && call.parent >= 0)
      call.position.node = calls[static_cast<std::size_t>(call.parent)].position.node;
}

}  // namespace kymo::event
