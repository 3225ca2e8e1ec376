// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "event/memory.hpp"

namespace kymo::collect {

/// Maximum number of frames of a stack; outer frames are dropped.
inline constexpr std::size_t kMaxFrames = 48;

/// Return addresses of a thread, innermost first.
struct Stack {
  std::array<void*, kMaxFrames> frames;  // only the first `depth` are set
  std::uint32_t depth = 0;
};

/// Returns the return addresses of the calling thread, innermost first. May throw if it is not supported.
using Unwinder = std::vector<void*> (*)();

/// Selects the unwinder. Call it before the first take_stack(). Tries `unwinder` once and uses it if it works;
/// otherwise, or if it is nullptr, uses glibc's backtrace(), whose first call loads a library. LibTorch's unwinder
/// takes 0.4 µs, backtrace() 7 µs.
void prepare_stacks(Unwinder unwinder);

/// Returns the stack of the calling thread without the frames of the library that contains this code. Empty if
/// unwinding fails.
Stack take_stack() noexcept;

/// Returns the call that precedes a return address: library, offset as in its symbol table (as for addr2line), and the
/// function if the library exports it or has a symbol table. For an address outside of all libraries, the offset is the
/// address.
event::StackFrame locate(const void* return_address);

/// The distinct call stacks of a pass; the same few repeat in every step. Not thread-safe.
class StackTable {
 public:
  /// Returns what is at an address of a stack.
  using Locate = event::StackFrame (*)(const void*);
  /// `max_bytes` limits the memory of the stacks.
  explicit StackTable(std::int64_t max_bytes = 0, Locate locate = &collect::locate)
      : bytes_left_(max_bytes), locate_(locate) {}

  /// Returns the id of a stack; equal stacks get the same id. Returns -1 for an empty stack, and for a new stack beyond
  /// the memory limit, which is counted as dropped.
  std::int32_t number(const Stack& stack);
  /// Number of dropped stacks.
  std::int64_t dropped() const { return dropped_; }
  /// Frames and stacks of some events. Their indices are not those of the table.
  struct Kept {
    std::unordered_map<void*, std::uint32_t> frames;  ///< index by return address
    std::vector<std::int32_t> stacks;                 ///< index by id
  };
  /// Adds the stacks that `kept` does not have yet, symbolized, to the end of `stacks`, and their frames to `frames`.
  void add_new(Kept& kept, std::vector<event::StackFrame>& frames,
               std::vector<std::vector<std::uint32_t>>& stacks) const;

 private:
  struct Extent {
    std::size_t begin = 0;
    std::uint32_t depth = 0;
  };
  bool is(const Extent& extent, const Stack& stack) const;

  std::int64_t bytes_left_;
  Locate locate_;
  std::int64_t dropped_ = 0;
  std::vector<void*> frames_;
  std::vector<Extent> stacks_;
  std::unordered_multimap<std::uint64_t, std::int32_t> by_hash_;
};

}  // namespace kymo::collect
