// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "collect/stacks/python_api.hpp"
#include "collect/stacks/stack.hpp"
#include "event/records.hpp"

namespace kymo::collect {

/// The Python stacks of a pass: file, line and function of each frame, each distinct stack once. Any thread. Because
/// threads may still take stacks when the pass ends, keep the object until the process exits.
class PythonStacks {
 public:
  /// `max_bytes` limits the memory of stacks, frames and nodes. Throws Unavailable if the process has no Python
  /// interpreter with the functions that are needed (from 3.10 on).
  explicit PythonStacks(std::int64_t max_bytes);

  enum class Gil {
    kAcquire,  ///< wait for the GIL if the thread has released it
    kIfHeld,   ///< take no stack without it
  };
  /// Returns the number of the Python stack of the calling thread: its innermost kMaxFrames frames. Returns -1 if the
  /// thread has no Python frame, is not known to Python or may not take the GIL, or beyond the memory limit, which is
  /// counted. Runs no code of the program, and no garbage collection.
  std::int32_t take(Gil gil) noexcept;

  /// Records that an operator with this stack may have created the node.
  void note_node(event::AutogradPosition node, std::int32_t stack) noexcept;

  /// Adds what is new since the last call. Always pass the same object, to which nothing else adds stacks.
  void add_new(event::NewEvents& events);
  /// Moves stacks and nodes into the record, whose stacks they are, with dropped-record counts for `source`, and
  /// releases the memory. Later calls of take() return -1.
  void finish(event::PassRecord& record, const char* source);

 private:
  /// An instruction of a code object, or a line of it.
  struct Location {
    void* code = nullptr;
    int instruction = 0;
    bool operator==(const Location&) const = default;
  };
  struct LocationHash {
    std::size_t operator()(const Location& location) const noexcept;
  };
  struct Walk;

  void walk(Walk& walk) const;
  std::int32_t number_of(const Walk& walk);
  const event::StackFrame* frame_at(const Location& location);
  const event::StackFrame* frame_of_line(const Location& line);
  std::string attribute(void* code, const char* name) const;

  const PythonApi api_;
  const std::int64_t max_bytes_;
  std::mutex mutex_;  // of what follows; no code of the program runs under it
  bool ended_ = false;
  std::int64_t bytes_left_;
  std::int64_t dropped_frames_ = 0;
  std::int64_t dropped_nodes_ = 0;
  StackTable stacks_;
  using Frames = std::unordered_map<Location, const event::StackFrame*, LocationHash>;
  Frames frames_;  // by instruction; each holds its code object. In Python 3.10, by line
  Frames lines_;
  std::deque<event::StackFrame> frame_texts_;
  std::vector<event::NodeStack> nodes_;
  // What add_new() has added:
  StackTable::Kept added_stacks_;
  std::size_t added_nodes_ = 0;
};

}  // namespace kymo::collect
