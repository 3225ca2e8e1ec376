// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "event/position.hpp"

/// What blocks of a StepJournal have in common.
namespace kymo::store {

/// A short string: as many characters as fit, then zeros.
template <std::size_t kSize>
struct ShortText {
  char characters[kSize];

  void set(const std::string& text) { text.copy(characters, kSize - 1); }
  std::string get() const { return {characters, strnlen(characters, kSize)}; }
};

/// A position, without what analysis finds out.
struct PositionBlock {
  std::int64_t node_sequence;
  std::uint64_t node_thread;
  std::int32_t step, phase, range;
  std::uint32_t thread;
};

inline PositionBlock block_of(const event::Position& position) {
  return {position.node.sequence, position.node.thread, position.step, position.phase, position.range, position.thread};
}

inline event::Position position_of(const PositionBlock& block) {
  return {block.step, block.phase, block.range, block.thread, {block.node_sequence, block.node_thread}, -1};
}

}  // namespace kymo::store
