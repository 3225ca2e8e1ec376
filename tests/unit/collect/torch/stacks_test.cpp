// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "collect/stacks/stack.hpp"
#include "collect/stacks/symbols.hpp"

namespace kymo::collect {
namespace {

Stack stack_of(std::initializer_list<std::uintptr_t> addresses) {
  Stack stack;
  for (const std::uintptr_t address : addresses) stack.frames[stack.depth++] = reinterpret_cast<void*>(address);
  return stack;
}

std::vector<void*> fails() { throw std::runtime_error("no unwinder here"); }

std::vector<void*> made_up() {
  // A foreign frame above the collector's, two frames of the collector, and the callers: deeper than the limit.
  auto* const own = reinterpret_cast<char*>(&made_up);
  std::vector<void*> frames = {reinterpret_cast<void*>(0x10), own + 1, own + 2};
  for (std::uintptr_t i = 0; i < 100; ++i) frames.push_back(reinterpret_cast<void*>(0x100 + i));
  return frames;
}

TEST(Stacks, TheCollectorsOwnFramesAreLeftOutAndTheDepthIsBounded) {
  prepare_stacks(&made_up);
  const Stack stack = take_stack();
  ASSERT_EQ(stack.depth, kMaxFrames);
  for (std::uintptr_t i = 0; i < kMaxFrames; ++i) EXPECT_EQ(stack.frames[i], reinterpret_cast<void*>(0x100 + i));
}

TEST(Stacks, WithoutAWorkingUnwinderGlibcsIsUsed) {
  for (const Unwinder unwinder : {static_cast<Unwinder>(nullptr), &fails}) {
    prepare_stacks(unwinder);
    Stack stack;
    std::thread([&] { stack = take_stack(); }).join();
    ASSERT_GE(stack.depth, 2u);
    EXPECT_EQ(locate(stack.frames[0]).module.substr(0, 9), "libstdc++") << "what called the thread's function";
  }
}

TEST(Stacks, AnExportedFunctionHasItsName) {
  void* const address = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
  ASSERT_NE(address, nullptr);
  const event::StackFrame frame = locate(static_cast<const char*>(address) + 5);
  EXPECT_EQ(frame.function, "gnu_get_libc_version");
  EXPECT_EQ(frame.module.substr(0, 7), "libc.so");
  EXPECT_GT(frame.offset, 0u);
  EXPECT_EQ(locate(static_cast<const char*>(address) + 6).offset, frame.offset + 1);
}

TEST(Stacks, NamesAreDemangled) {
  const auto address = reinterpret_cast<const char*>(dlsym(RTLD_DEFAULT, "_ZSt9terminatev"));
  ASSERT_NE(address, nullptr);
  EXPECT_EQ(locate(address + 1).function, "std::terminate()");
}

TEST(Stacks, AHiddenFunctionIsNamedByTheSymbolTable) {
  const auto address = reinterpret_cast<const char*>(&fails);
  const event::StackFrame frame = locate(address + 4);
  EXPECT_EQ(frame.module, "unit_collect_stacks");
  EXPECT_GT(frame.offset, 0u);
  EXPECT_LT(frame.offset, std::uint64_t{1} << 40) << "counted from the library's own zero";
  EXPECT_NE(frame.function.find("::fails()"), std::string::npos) << frame.function;
}

TEST(Stacks, AFileWithoutSymbolTableHasNoNames) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const event::StackFrame frame = locate(reinterpret_cast<const char*>(&fails) + 4);
  EXPECT_NE(function_at(program, frame.offset), "");
  EXPECT_EQ(function_at(program, 1), "") << "the ELF header is no function";
  const std::string stripped = program + ".stripped";
  ASSERT_EQ(std::system(("objcopy --strip-all '" + program + "' '" + stripped + "'").c_str()), 0);
  EXPECT_EQ(function_at(stripped, frame.offset), "");
  std::filesystem::remove(stripped);
  EXPECT_EQ(function_at("/proc/self/cmdline", frame.offset), "");
  EXPECT_EQ(function_at("/no/such/file", frame.offset), "");
}

TEST(Stacks, AnAddressOfNoLibraryIsItsOwnOffset) {
  const event::StackFrame frame = locate(reinterpret_cast<const void*>(0x1001));
  EXPECT_EQ(frame.module, "");
  EXPECT_EQ(frame.offset, 0x1000u);
  EXPECT_EQ(frame.function, "");
}

TEST(StackTable, EqualStacksHaveOneNumber) {
  StackTable table(1 << 20);
  EXPECT_EQ(table.number(stack_of({1, 2, 3})), 0);
  EXPECT_EQ(table.number(stack_of({1, 2})), 1);
  EXPECT_EQ(table.number(stack_of({3, 2, 1})), 2);
  EXPECT_EQ(table.number(stack_of({1, 2, 3})), 0);
  EXPECT_EQ(table.number(Stack()), -1);
  EXPECT_EQ(table.dropped(), 0);
}

TEST(StackTable, AddsEachStackAndFrameOnce) {
  StackTable table(1 << 20);
  table.number(stack_of({1, 2, 3}));
  event::Memory memory;
  memory.stacks.push_back({});
  StackTable::Kept kept;
  table.add_new(kept, memory.frames, memory.stacks);
  table.number(stack_of({1, 2}));
  table.number(stack_of({4, 2, 1}));
  table.add_new(kept, memory.frames, memory.stacks);
  table.add_new(kept, memory.frames, memory.stacks);
  EXPECT_EQ(kept.stacks, (std::vector<std::int32_t>{1, 2, 3})) << "after those that are there";
  ASSERT_EQ(memory.stacks.size(), 4u);
  EXPECT_EQ(memory.frames.size(), 4u) << "each address once";
  EXPECT_EQ(memory.stacks[1].size(), 3u);
  EXPECT_EQ(memory.frames[memory.stacks[3][0]].offset, 3u) << "the call before the return address";
}

TEST(StackTable, NewStacksBeyondTheBoundAreCounted) {
  StackTable table(200);
  EXPECT_EQ(table.number(stack_of({1})), 0);
  EXPECT_EQ(table.number(stack_of({2})), 1);
  EXPECT_EQ(table.number(stack_of({3})), -1);
  EXPECT_EQ(table.number(stack_of({3})), -1);
  EXPECT_EQ(table.number(stack_of({1})), 0) << "known ones go on";
  EXPECT_EQ(table.dropped(), 2);
}

}  // namespace
}  // namespace kymo::collect
