// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "event/trace.hpp"

namespace kymo::collect {

/// Execution context of one thread. Accessed only by that thread, on a cache line of its own.
struct alignas(64) ThreadPosition {
  std::int32_t range = -1;   ///< index into Trace::ranges of the innermost open scope on the thread, or -1
  std::uint32_t number = 0;  ///< thread index from 0, in order of first use
};

/// Context of a thread that is not tracked.
inline constexpr ThreadPosition kNoPosition;

/// Execution context of the workload, which collectors query on any thread of an observed pass to attribute an event.
/// The worker maintains step, phase, range and thread. The LibTorch module adds autograd nodes and operators while it
/// is armed, so that either module works without the other.
struct ExecutionContext {
  std::atomic<std::int32_t> step{-1};
  std::atomic<std::int32_t> phase{-1};
  /// Returns the context of the calling thread. Within a pass every call returns the same object, which outlives the
  /// pass, so callers may cache the reference.
  const ThreadPosition& (*this_thread)() noexcept = nullptr;

  using Node = event::AutogradPosition (*)() noexcept;
  /// Returns the autograd node that the calling thread executes.
  std::atomic<Node> current_node{nullptr};
  /// Returns the sequence number of the next node that the calling thread creates.
  std::atomic<Node> next_node{nullptr};
  /// Returns the operator call that is active on the calling thread, or -1. Calls are numbered in order of their begin.
  /// In a pass that records operators this is the innermost call (an index into Trace::operators); in the memory pass
  /// it is the outermost.
  std::atomic<std::int64_t (*)() noexcept> op{nullptr};
  /// Returns the operator's name, valid until the operator ends; empty if there is none.
  std::atomic<std::string_view (*)() noexcept> op_name{nullptr};
  /// Returns the number of the Python stack that calls the launch on the calling thread, or -1.
  std::atomic<std::int32_t (*)() noexcept> stack{nullptr};

  const ThreadPosition& thread_position() const noexcept { return this_thread ? this_thread() : kNoPosition; }
  event::Position position() const noexcept { return position(thread_position()); }
  /// For callers that cache the context of the calling thread.
  event::Position position(const ThreadPosition& own) const noexcept {
    event::Position current;
    current.step = step.load(std::memory_order_relaxed);
    current.phase = phase.load(std::memory_order_relaxed);
    current.range = own.range;
    current.thread = own.number;
    if (const Node node = current_node.load(std::memory_order_relaxed)) current.node = node();
    if (const auto number = op.load(std::memory_order_relaxed)) current.op = number();
    if (const auto number = stack.load(std::memory_order_relaxed)) current.stack = number();
    return current;
  }
};

}  // namespace kymo::collect
