// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "event/trace.hpp"

namespace kymo::collect {

/// Where one thread stands. Written and read by that thread alone, on a line of the cache of its own.
struct alignas(64) ThreadStanding {
  std::int32_t range = -1;   ///< the innermost scope that is open on the thread: index into Trace::ranges, or -1
  std::uint32_t number = 0;  ///< threads count from 0 in the order in which they were first seen
};

/// Of a thread that nobody follows.
inline constexpr ThreadStanding kNowhere;

/// Where the workload stands: what a collector asks, on any thread and at any moment of an observed pass, to place an
/// event. The worker keeps step, phase, range and thread; the module of LibTorch adds autograd and operators while it
/// is armed, so that each module works without the other.
struct Standpoint {
  std::atomic<std::int32_t> step{-1};
  std::atomic<std::int32_t> phase{-1};
  /// The calling thread's standing. Within one pass it is the same object on each call, and it outlives the pass: who
  /// asks often may keep it for so long.
  const ThreadStanding& (*this_thread)() noexcept = nullptr;

  using Node = event::AutogradPosition (*)() noexcept;
  /// The autograd node that the calling thread works on.
  std::atomic<Node> current_node{nullptr};
  /// The number that the next node made on the calling thread will get.
  std::atomic<Node> next_node{nullptr};
  /// The operator call that is open on the calling thread, numbered in order of beginning, or -1: where the pass
  /// records operators the innermost (the index into Trace::operators), in the pass memory the outermost.
  std::atomic<std::int64_t (*)() noexcept> op{nullptr};
  /// Its name, valid until it ends; empty if there is none.
  std::atomic<std::string_view (*)() noexcept> op_name{nullptr};

  const ThreadStanding& standing() const noexcept { return this_thread ? this_thread() : kNowhere; }
  event::Place here() const noexcept { return here(standing()); }
  /// For who keeps the calling thread's standing.
  event::Place here(const ThreadStanding& own) const noexcept {
    event::Place place;
    place.step = step.load(std::memory_order_relaxed);
    place.phase = phase.load(std::memory_order_relaxed);
    place.range = own.range;
    place.thread = own.number;
    if (const Node node = current_node.load(std::memory_order_relaxed)) place.node = node();
    if (const auto number = op.load(std::memory_order_relaxed)) place.op = number();
    return place;
  }
};

}  // namespace kymo::collect
