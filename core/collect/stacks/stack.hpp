// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
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
/// function if the library exports it. For an address outside of all libraries, the offset is the address.
event::StackFrame locate(const void* return_address);

}  // namespace kymo::collect
