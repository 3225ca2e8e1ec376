// SPDX-License-Identifier: Apache-2.0
#include "collect/stacks/stack.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include "base/text.hpp"
#include "collect/stacks/symbols.hpp"

namespace kymo::collect {
namespace {

// The collector's own frames are among the first few. A deeper frame of this library belongs to a caller that reached
// it through this library.
constexpr std::size_t kOwnFramesWithin = 12;

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

// Set by prepare_stacks(). Other threads may take stacks while another collector calls it again.
std::atomic<Unwinder> g_unwinder{nullptr};
std::atomic<std::uintptr_t> g_own_begin{0};
std::atomic<std::uintptr_t> g_own_end{0};

int find_own(dl_phdr_info* library, std::size_t, void* found) {
  const auto address = reinterpret_cast<std::uintptr_t>(&find_own);
  Range range{UINTPTR_MAX, 0};
  bool is_own = false;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& part = library->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = library->dlpi_addr + part.p_vaddr;
    range.begin = std::min(range.begin, begin);
    range.end = std::max(range.end, begin + part.p_memsz);
    is_own = is_own || (address >= begin && address < begin + part.p_memsz);
  }
  if (is_own) *static_cast<Range*>(found) = range;
  return is_own ? 1 : 0;
}

std::vector<void*> backtrace_frames() {
  std::vector<void*> frames(kMaxFrames + kOwnFramesWithin);
  const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
  frames.resize(static_cast<std::size_t>(std::max(depth, 0)));
  return frames;
}

bool works(Unwinder unwinder) {
  try {
    return unwinder != nullptr && !unwinder().empty();
  } catch (const std::exception&) {
    return false;
  }
}

std::string demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && name ? name.get() : symbol;
}

std::string file_name(const char* path) {
  const std::string text = path ? path : "";
  return text.substr(text.rfind('/') + 1);
}

// Overhead of a stack in addition to its frames: its extent and a hash table node.
constexpr std::int64_t kStackOverheadBytes = 64;

/// FNV-1a over whole addresses with MurmurHash3's finalizer, since addresses differ only in their low bits.
std::uint64_t hash_of(const Stack& stack) {
  std::uint64_t hash = 14695981039346656037ull;
  for (std::uint32_t i = 0; i < stack.depth; ++i)
    hash = (hash ^ reinterpret_cast<std::uintptr_t>(stack.frames[i])) * 1099511628211ull;
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdull;
  return hash ^ (hash >> 33);
}

}  // namespace

void prepare_stacks(Unwinder unwinder) {
  Range own;
  dl_iterate_phdr(find_own, &own);
  g_own_begin = own.begin;
  g_own_end = own.end;
  backtrace_frames();
  g_unwinder = works(unwinder) ? unwinder : &backtrace_frames;
}

Stack take_stack() noexcept {
  Stack stack;
  const Unwinder unwinder = g_unwinder.load(std::memory_order_relaxed);
  if (unwinder == nullptr) return stack;
  try {
    const std::vector<void*> frames = unwinder();
    std::size_t first = 0;
    for (std::size_t i = 0; i < std::min(frames.size(), kOwnFramesWithin); ++i) {
      const auto address = reinterpret_cast<std::uintptr_t>(frames[i]);
      if (address >= g_own_begin.load(std::memory_order_relaxed) && address < g_own_end.load(std::memory_order_relaxed))
        first = i + 1;
    }
    stack.depth = static_cast<std::uint32_t>(std::min(frames.size() - first, kMaxFrames));
    std::copy_n(frames.begin() + static_cast<std::ptrdiff_t>(first), stack.depth, stack.frames.begin());
  } catch (const std::exception&) {
    stack.depth = 0;  // code without unwind tables, or out of memory
  }
  return stack;
}

event::StackFrame locate(const void* return_address) {
  // The return address of a noreturn call may lie in the following function.
  const auto address = reinterpret_cast<std::uintptr_t>(return_address) - 1;
  Dl_info symbol{};
  link_map* library = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(address), &symbol, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) ==
      0)
    return {"", address, ""};
  event::StackFrame frame;
  frame.module = file_name(symbol.dli_fname);
  frame.offset = address - (library ? library->l_addr : 0);
  const std::string name =
      symbol.dli_sname != nullptr ? symbol.dli_sname : function_at(or_empty(symbol.dli_fname), frame.offset);
  if (!name.empty()) frame.function = demangled(name.c_str());
  return frame;
}

bool StackTable::is(const Extent& extent, const Stack& stack) const {
  return extent.depth == stack.depth && std::equal(stack.frames.begin(), stack.frames.begin() + stack.depth,
                                                   frames_.begin() + static_cast<std::ptrdiff_t>(extent.begin));
}

std::int32_t StackTable::number(const Stack& stack) {
  if (stack.depth == 0) return -1;
  const std::uint64_t hash = hash_of(stack);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto each = begin; each != end; ++each)
    if (is(stacks_[static_cast<std::size_t>(each->second)], stack)) return each->second;
  const std::int64_t bytes = kStackOverheadBytes + static_cast<std::int64_t>(stack.depth * sizeof(void*));
  if (bytes > bytes_left_) {
    ++dropped_;
    return -1;
  }
  bytes_left_ -= bytes;
  const auto number = static_cast<std::int32_t>(stacks_.size());
  stacks_.push_back({frames_.size(), stack.depth});
  frames_.insert(frames_.end(), stack.frames.begin(), stack.frames.begin() + stack.depth);
  by_hash_.emplace(hash, number);
  return number;
}

void StackTable::add_new(Kept& kept, std::vector<event::StackFrame>& frames,
                         std::vector<std::vector<std::uint32_t>>& stacks) const {
  while (kept.stacks.size() < stacks_.size()) {
    const Extent& extent = stacks_[kept.stacks.size()];
    kept.stacks.push_back(static_cast<std::int32_t>(stacks.size()));
    auto& stack = stacks.emplace_back();
    stack.reserve(extent.depth);
    for (std::size_t i = extent.begin; i < extent.begin + extent.depth; ++i) {
      const auto [entry, is_new] = kept.frames.emplace(frames_[i], static_cast<std::uint32_t>(frames.size()));
      if (is_new) frames.push_back(locate_(frames_[i]));
      stack.push_back(entry->second);
    }
  }
}

}  // namespace kymo::collect
