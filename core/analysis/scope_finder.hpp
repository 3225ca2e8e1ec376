// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
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

/// A call within compiled code, which computes parts of a set of modules. The name of its range has the form
/// `[KERNEL ][PATH/]{MODULE, ...}`, such as `cpp_fused_gelu_1 layers.0/{norm, feed_forward/0}`; `{.}` is the compiled
/// module itself. A call of a library has no kernel name.
struct GeneratedCall {
  std::string_view kernel;
  std::string_view modules;

  /// Returns nullopt for the name of another range.
  static std::optional<GeneratedCall> parse(std::string_view name);
  bool is_fused() const { return modules.find(", ") != std::string_view::npos; }
  /// The path of the modules, relative to the compiled module; empty for that itself.
  std::string_view path() const;
};

/// The attributed scope of an event and how it was determined.
struct ScopeAttribution {
  event::Attribution attribution = event::Attribution::kNone;
  event::TextId scope = event::kNoText;
};

/// Attributes events by the context that their thread recorded, as documented at attribute(). Invalid indices in a
/// context count as none.
///
/// What runs in the phase `recompute` has the scope that is open, not that of the node that needs it.
///
/// A range that is named like a GeneratedCall belongs to the modules in its name. If it is one, the event has the scope
/// of that module; otherwise its scope is the set and its attribution kFused.
class ScopeFinder {
 public:
  /// The trace must outlive this object, which adds paths of compiled modules to it.
  explicit ScopeFinder(event::Trace& trace);

  ScopeAttribution locate(const event::Position& position);
  /// Returns the phase if the index is valid, else -1.
  std::int32_t phase(const event::Position& position) const {
    return position.phase >= 0 && static_cast<std::size_t>(position.phase) < trace_.phases.size() ? position.phase : -1;
  }

 private:
  std::optional<GeneratedCall> generated_call(std::int32_t range) const;
  /// The attribution of a call within a compiled module, whose scope is `forward`, or if it is negative, that around
  /// the range.
  ScopeAttribution compiled(std::int32_t forward, std::int32_t range, const GeneratedCall& call);
  event::TextId path(std::int32_t range) const {
    return range >= 0 && static_cast<std::size_t>(range) < trace_.ranges.size()
               ? trace_.ranges[static_cast<std::size_t>(range)].path
               : event::kNoText;
  }

  event::Trace& trace_;
  std::int32_t recompute_;  // the phase; -1 without one
  ForwardScopes forward_;
  std::unordered_map<std::uint64_t, ScopeAttribution> compiled_;  // by forward scope and range
};

}  // namespace kymo::analysis
