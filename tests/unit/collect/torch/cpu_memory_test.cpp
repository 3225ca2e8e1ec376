// SPDX-License-Identifier: Apache-2.0
#include <torch/nn/modules/linear.h>
#include <torch/types.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <vector>

#include "unit/collect/torch/torch_test.hpp"

namespace kymo::collect {
namespace {

using event::MemoryAction;
using event::MemoryEvent;
using measure::Pass;
using testing::HasSubstr;

class TorchCpuMemoryTest : public TorchTest {
 protected:
  static at::Tensor block(std::int64_t bytes) { return torch::empty({bytes}, torch::kUInt8); }
  static std::vector<MemoryEvent> of(const event::PassRecord& record, MemoryAction action) {
    std::vector<MemoryEvent> found;
    for (const MemoryEvent& each : record.memory_trace.events)
      if (each.action == action) found.push_back(each);
    return found;
  }
};

TEST_F(TorchCpuMemoryTest, EachBlockIsAllocatedAndFreedWithItsSizePositionAndOperator) {
  arm(Pass::kMemory);
  const void* address = nullptr;
  {
    const at::Tensor tensor = block(1000);
    address = tensor.data_ptr();
  }
  const event::PassRecord record = disarm();
  const auto& events = record.memory_trace.events;
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].action, MemoryAction::kAllocate);
  EXPECT_EQ(events[1].action, MemoryAction::kFreeRequested);
  EXPECT_EQ(events[2].action, MemoryAction::kFreeCompleted);
  for (const MemoryEvent& each : events) {
    EXPECT_EQ(each.device, event::MemoryDevice::kCpu);
    EXPECT_EQ(each.bytes, 1000);
    EXPECT_EQ(each.address, reinterpret_cast<std::uintptr_t>(address));
    EXPECT_EQ(each.position.step, 7);
    EXPECT_EQ(each.position.phase, 2);
    EXPECT_EQ(each.position.thread, own_position().number);
  }
  EXPECT_LE(events[0].time_ns, events[1].time_ns);
  EXPECT_EQ(record.trace.texts.text(events[0].op), "aten::empty");
  EXPECT_GE(events[0].position.op, 0);
  EXPECT_EQ(record.trace.texts.text(events[1].op), "") << "freed outside of any operator";
  EXPECT_EQ(events[0].after.allocated_bytes, 1000);
  EXPECT_EQ(events[0].after.requested_bytes, 1000);
  EXPECT_EQ(events[0].after.active_bytes, 1000);
  EXPECT_EQ(events[0].after.reserved_bytes, 1000);
  EXPECT_EQ(events[1].after.allocated_bytes, 0);
  EXPECT_TRUE(record.trace.operators.empty()) << "operators are only told apart";
  EXPECT_TRUE(record.dropped_records.empty());
  expect_nothing_left();
}

TEST_F(TorchCpuMemoryTest, RequestedBytesSumUpOverPlainThreads) {
  constexpr int kThreads = 4;
  constexpr int kBlocks = 300;
  arm(Pass::kMemory);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([i] {
      for (int n = 0; n < kBlocks; ++n) block(64 * (i + 1));
    });
  for (std::thread& thread : threads) thread.join();
  const event::PassRecord record = disarm();
  std::int64_t born = 0;
  std::int64_t freed = 0;
  for (const MemoryEvent& each : of(record, MemoryAction::kAllocate)) born += each.bytes;
  for (const MemoryEvent& each : of(record, MemoryAction::kFreeRequested)) freed += each.bytes;
  EXPECT_EQ(born, 64 * (1 + 2 + 3 + 4) * kBlocks);
  EXPECT_EQ(freed, born);
  std::int64_t in_use = 0;
  std::int64_t time_ns = 0;
  for (const MemoryEvent& each : record.memory_trace.events) {
    if (each.action == MemoryAction::kAllocate) in_use += each.bytes;
    if (each.action == MemoryAction::kFreeRequested) in_use -= each.bytes;
    EXPECT_EQ(each.after.allocated_bytes, in_use);
    EXPECT_GE(each.time_ns, time_ns) << "in their true order";
    time_ns = each.time_ns;
  }
  EXPECT_EQ(in_use, 0);
}

TEST_F(TorchCpuMemoryTest, BlocksMayOutliveThePassAndBeFreedOnAnyThread) {
  const at::Tensor older = block(512);
  arm(Pass::kMemory);
  std::optional<at::Tensor> survivor = block(2048);
  at::Tensor grows = block(16);
  const event::PassRecord first = disarm();
  ASSERT_EQ(of(first, MemoryAction::kAllocate).size(), 2u);
  EXPECT_TRUE(of(first, MemoryAction::kFreeRequested).empty());
  grows.resize_({4096});  // its storage still refers to its original allocator
  EXPECT_EQ(grows.fill_(3).sum().item<std::int64_t>(), 3 * 4096);

  arm(Pass::kMemory);
  std::thread([&] { survivor.reset(); }).join();
  const at::Tensor next = block(100);
  const event::PassRecord second = disarm();
  EXPECT_TRUE(of(second, MemoryAction::kFreeRequested).empty()) << "blocks of an earlier pass are not this one's";
  ASSERT_EQ(of(second, MemoryAction::kAllocate).size(), 1u);
  EXPECT_EQ(of(second, MemoryAction::kAllocate)[0].after.allocated_bytes, 100);
}

TEST_F(TorchCpuMemoryTest, RawBlocksWorkAcrossTheEndsOfAPass) {
  c10::Allocator* const plain = c10::GetCPUAllocator();
  void* const before = plain->raw_allocate(128);
  arm(Pass::kMemory);
  c10::Allocator* const watched = c10::GetCPUAllocator();
  ASSERT_NE(watched, plain);
  watched->raw_deallocate(before);
  void* const within = watched->raw_allocate(256);
  watched->raw_deallocate(within);
  void* const across = watched->raw_allocate(512);
  const auto clone = watched->clone(across, 512);
  EXPECT_EQ(clone.get_deleter(), watched->raw_deleter());
  EXPECT_TRUE(watched->is_simple_data_ptr(clone));
  const event::PassRecord record = disarm();
  plain->raw_deallocate(across);
  EXPECT_EQ(of(record, MemoryAction::kAllocate).size(), 3u);
  EXPECT_EQ(of(record, MemoryAction::kFreeRequested).size(), 1u);
  EXPECT_EQ(plain->allocate(0).get(), nullptr);
}

TEST_F(TorchCpuMemoryTest, ARequestThatCannotBeMetIsAnEvent) {
  arm(Pass::kMemory);
  EXPECT_ANY_THROW(block(std::int64_t{1} << 60));
  const event::PassRecord record = disarm();
  const auto failed = of(record, MemoryAction::kOutOfMemory);
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].bytes, std::int64_t{1} << 60);
  EXPECT_GT(failed[0].free_bytes, 0);
  EXPECT_GE(failed[0].stack, 0);
}

TEST_F(TorchCpuMemoryTest, StacksLeadFromTheAllocatorToTheCaller) {
  arm(Pass::kMemory);
  for (int i = 0; i < 5; ++i) block(64);
  const event::PassRecord record = disarm();
  const auto& memory = record.memory_trace;
  const auto born = of(record, MemoryAction::kAllocate);
  ASSERT_EQ(born.size(), 5u);
  ASSERT_GE(born[0].stack, 0);
  for (const MemoryEvent& each : born) EXPECT_EQ(each.stack, born[0].stack) << "the same place";
  EXPECT_EQ(memory.stacks.size(), 1u);
  EXPECT_EQ(of(record, MemoryAction::kFreeRequested)[0].stack, -1);
  const auto& frames = memory.stacks.at(static_cast<std::size_t>(born[0].stack));
  ASSERT_GT(frames.size(), 3u);
  EXPECT_EQ(memory.frames[frames[0]].module, "libtorch_cpu.so") << "the collector's own frames are left out";
  const auto names = [&](const std::string& function) {
    return std::count_if(frames.begin(), frames.end(), [&](std::uint32_t frame) {
      return memory.frames[frame].function.find(function) != std::string::npos;
    });
  };
  EXPECT_GE(names("at::detail::empty_cpu(c10::ArrayRef<long>, "), 1) << "the name is demangled";
  EXPECT_GE(names("at::_ops::empty_memory_format::call"), 1);
  EXPECT_TRUE(std::any_of(frames.begin(), frames.end(),
                          [&](std::uint32_t frame) { return memory.frames[frame].module == "unit_collect_torch"; }));
}

TEST_F(TorchCpuMemoryTest, WithoutStacksThereAreNone) {
  setting_.observation.stacks = false;
  arm(Pass::kMemory);
  block(64);
  const event::PassRecord record = disarm();
  EXPECT_TRUE(record.memory_trace.stacks.empty());
  EXPECT_EQ(record.memory_trace.events.at(0).stack, -1);
}

TEST_F(TorchCpuMemoryTest, WhatGoesBeyondTheBoundIsCountedAndTheCountersStayTrue) {
  setting_.observation.memory_bytes = 4000;
  arm(Pass::kMemory);
  for (int i = 0; i < 100; ++i) block(64);
  const event::PassRecord record = disarm();
  ASSERT_FALSE(record.dropped_records.empty());
  EXPECT_EQ(record.dropped_records[0].source, "kymo_torch");
  EXPECT_THAT(record.dropped_records[0].detail, HasSubstr("memory events"));
  EXPECT_EQ(record.dropped_records[0].count + static_cast<std::int64_t>(record.memory_trace.events.size()), 300);
  for (const MemoryEvent& each : record.memory_trace.events) EXPECT_LE(each.after.allocated_bytes, 64);
}

TEST_F(TorchCpuMemoryTest, OnAGpuRunTheHostsBlocksAreNotWatched) {
  setting_.device = measure::DeviceKind::kCuda;
  arm(Pass::kMemory);
  EXPECT_EQ(c10::GetCPUAllocator(), allocator_before_);
  block(64);
  EXPECT_TRUE(execution_context_.op_name.load() != nullptr);
  EXPECT_TRUE(disarm().memory_trace.events.empty());
}

TEST_F(TorchCpuMemoryTest, AStepOfTrainingEndsWhereItBegan) {
  auto model = torch::nn::Linear(16, 4);
  arm(Pass::kMemory);
  {
    const auto loss = model(torch::randn({8, 16})).pow(2).sum();
    loss.backward();
    model->zero_grad();
  }
  const event::PassRecord record = disarm();
  ASSERT_FALSE(record.memory_trace.events.empty());
  EXPECT_EQ(record.memory_trace.events.back().after.allocated_bytes, 0);
  EXPECT_TRUE(std::any_of(record.memory_trace.events.begin(), record.memory_trace.events.end(),
                          [](const MemoryEvent& each) { return each.position.node.sequence >= 0; }))
      << "blocks of the backward pass know their node";
}

}  // namespace
}  // namespace kymo::collect
