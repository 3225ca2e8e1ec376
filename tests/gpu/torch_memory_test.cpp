// SPDX-License-Identifier: Apache-2.0
// The memory pass on a GPU: all events of LibTorch's CUDA caching allocator, with counters that match its own
// statistics exactly.
#include <ATen/ATen.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <vector>

#include "gpu/gpu_test.hpp"

namespace kymo::collect {
namespace {

using event::MemoryAction;
using event::MemoryEvent;
using event::MemoryState;

constexpr std::int64_t kMib = 1 << 20;

std::string_view fixed_op() noexcept { return "some::op"; }

class TorchMemoryTest : public GpuTest {
 protected:
  TorchMemoryTest() : GpuTest("kymo_torch_cuda") {
    setting_.pass = measure::Pass::kMemory;
    setting_.execution_context = &execution_context_;
    execution_context_.step = 3;
    execution_context_.op_name = &fixed_op;
  }

  static at::Tensor bytes_on_gpu(std::int64_t bytes) {
    return at::empty({bytes}, at::device(at::kCUDA).dtype(at::kByte));
  }
  static c10::CachingDeviceAllocator::DeviceStats stats() { return c10::cuda::CUDACachingAllocator::getDeviceStats(0); }
  static std::vector<MemoryEvent> of(const event::PassRecord& record, MemoryAction action) {
    std::vector<MemoryEvent> found;
    for (const MemoryEvent& each : record.memory_trace.events)
      if (each.action == action) found.push_back(each);
    return found;
  }
  static void expect_equal(const MemoryState& have, const MemoryState& want) {
    EXPECT_EQ(have.requested_bytes, want.requested_bytes);
    EXPECT_EQ(have.allocated_bytes, want.allocated_bytes);
    EXPECT_EQ(have.active_bytes, want.active_bytes);
    EXPECT_EQ(have.reserved_bytes, want.reserved_bytes);
  }
  static MemoryState current() {
    const auto now = stats();
    return {now.requested_bytes[0].current, now.allocated_bytes[0].current, now.active_bytes[0].current,
            now.reserved_bytes[0].current};
  }
  /// Returns the maximum of each counter over the events and the initial value.
  static MemoryState highest(const event::PassRecord& record, MemoryState peak) {
    for (const MemoryEvent& each : record.memory_trace.events) {
      peak.requested_bytes = std::max(peak.requested_bytes, each.after.requested_bytes);
      peak.allocated_bytes = std::max(peak.allocated_bytes, each.after.allocated_bytes);
      peak.active_bytes = std::max(peak.active_bytes, each.after.active_bytes);
      peak.reserved_bytes = std::max(peak.reserved_bytes, each.after.reserved_bytes);
    }
    return peak;
  }

  ExecutionContext execution_context_;
};

TEST_F(TorchMemoryTest, AKnownBlockHasItsSizesPositionOperatorAndStack) {
  const MemoryState before = current();
  const void* address = nullptr;
  {
    const at::Tensor block = bytes_on_gpu(1000);
    address = block.data_ptr();
  }
  const event::PassRecord record = disarm();
  const auto born = of(record, MemoryAction::kAllocate);
  const auto freed = of(record, MemoryAction::kFreeRequested);
  const auto reusable = of(record, MemoryAction::kFreeCompleted);
  ASSERT_EQ(born.size(), 1u);
  ASSERT_EQ(freed.size(), 1u);
  ASSERT_EQ(reusable.size(), 1u);
  for (const MemoryEvent& each : {born[0], freed[0], reusable[0]}) {
    EXPECT_EQ(each.device, event::MemoryDevice::kCuda);
    EXPECT_EQ(each.address, reinterpret_cast<std::uintptr_t>(address));
    EXPECT_EQ(each.bytes, 1000) << "the requested size, not rounded";
    EXPECT_EQ(each.stream, 0u);
    EXPECT_EQ(each.position.step, 3);
    EXPECT_EQ(record.trace.texts.text(each.op), "some::op");
  }
  EXPECT_EQ(born[0].after.requested_bytes, before.requested_bytes + 1000);
  EXPECT_EQ(born[0].after.allocated_bytes, before.allocated_bytes + 1024);
  EXPECT_EQ(born[0].after.active_bytes, before.active_bytes + 1024);
  EXPECT_EQ(freed[0].after.allocated_bytes, before.allocated_bytes);
  EXPECT_EQ(freed[0].after.active_bytes, before.active_bytes + 1024) << "not reusable yet";
  EXPECT_EQ(reusable[0].after.active_bytes, before.active_bytes);
  EXPECT_EQ(reusable[0].after.requested_bytes, before.requested_bytes);
  ASSERT_GE(born[0].stack, 0);
  const auto& frames = record.memory_trace.stacks.at(static_cast<std::size_t>(born[0].stack));
  EXPECT_TRUE(std::any_of(frames.begin(), frames.end(), [&](std::uint32_t frame) {
    return record.memory_trace.frames[frame].function.find("at::_ops::empty_memory_format::call") != std::string::npos;
  }));
  for (const std::uint32_t frame : frames) EXPECT_NE(record.memory_trace.frames[frame].module, "kymo_torch_cuda.so");
  EXPECT_TRUE(record.dropped_records.empty());
}

TEST_F(TorchMemoryTest, CountersAndPeaksAgreeWithTheAllocatorToTheByte) {
  const MemoryState before = current();
  std::vector<at::Tensor> live;
  for (int i = 0; i < 400; ++i) {
    live.push_back(bytes_on_gpu(1 + (i * 7919) % (3 * kMib)));
    if (i % 3 == 0) live.erase(live.begin() + (i * 31) % static_cast<int>(live.size()));
    if (i % 97 == 0) c10::cuda::CUDACachingAllocator::emptyCache();
    if (i % 10 == 0) bytes_on_gpu(5 * kMib);  // freed immediately: a peak between two readings
  }
  const MemoryState after = current();
  const auto own = stats();
  const event::PassRecord record = disarm();
  EXPECT_TRUE(record.dropped_records.empty()) << record.dropped_records[0].detail;
  ASSERT_FALSE(record.memory_trace.events.empty());
  expect_equal(record.memory_trace.events.back().after, after);
  ASSERT_TRUE(record.memory_trace.cuda_peaks);
  expect_equal(*record.memory_trace.cuda_peaks, {own.requested_bytes[0].peak, own.allocated_bytes[0].peak,
                                                 own.active_bytes[0].peak, own.reserved_bytes[0].peak});
  expect_equal(highest(record, before), *record.memory_trace.cuda_peaks);
  std::int64_t requested = before.requested_bytes;
  std::int64_t reserved = before.reserved_bytes;
  for (const MemoryEvent& each : record.memory_trace.events) {
    if (each.action == MemoryAction::kAllocate) requested += each.bytes;
    if (each.action == MemoryAction::kFreeCompleted) requested -= each.bytes;
    if (each.action == MemoryAction::kSegmentAllocate || each.action == MemoryAction::kSegmentMap)
      reserved += each.bytes;
    if (each.action == MemoryAction::kSegmentFree || each.action == MemoryAction::kSegmentUnmap) reserved -= each.bytes;
    ASSERT_EQ(each.after.requested_bytes, requested);
    ASSERT_EQ(each.after.reserved_bytes, reserved);
    ASSERT_LE(each.after.allocated_bytes, each.after.active_bytes);
    ASSERT_LE(each.after.active_bytes, each.after.reserved_bytes);
  }
}

TEST_F(TorchMemoryTest, ManyThreadsKeepOneTrueOrder) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i] {
      for (int n = 0; n < 300; ++n) bytes_on_gpu(512 * (i + 1) + n);
    });
  for (std::thread& thread : threads) thread.join();
  const MemoryState after = current();
  const event::PassRecord record = disarm();
  EXPECT_TRUE(record.dropped_records.empty());
  EXPECT_EQ(of(record, MemoryAction::kAllocate).size(), 1200u);
  expect_equal(record.memory_trace.events.back().after, after);
  EXPECT_TRUE(std::is_sorted(record.memory_trace.events.begin(), record.memory_trace.events.end(),
                             [](const MemoryEvent& a, const MemoryEvent& b) { return a.time_ns < b.time_ns; }));
}

TEST_F(TorchMemoryTest, ABlockInUseOnAnotherStreamIsReusableLater) {
  const auto other = c10::cuda::getStreamFromPool(false, 0);
  {
    const at::Tensor block = bytes_on_gpu(4 * kMib);
    c10::cuda::CUDACachingAllocator::recordStream(block.storage().data_ptr(), other);
  }
  const std::int64_t between_ns = now_ns() - setting_.run_start_ns;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const at::Tensor next = bytes_on_gpu(4 * kMib);  // first processes the events of other streams
  const event::PassRecord record = disarm();
  const auto freed = of(record, MemoryAction::kFreeRequested);
  const auto reusable = of(record, MemoryAction::kFreeCompleted);
  ASSERT_EQ(freed.size(), 1u);
  ASSERT_EQ(reusable.size(), 1u);
  EXPECT_EQ(freed[0].address, reusable[0].address);
  EXPECT_LE(freed[0].time_ns, between_ns);
  EXPECT_GE(reusable[0].time_ns, between_ns);
  EXPECT_EQ(freed[0].after.active_bytes - freed[0].after.allocated_bytes, 4 * kMib);
  EXPECT_TRUE(record.dropped_records.empty());
}

TEST_F(TorchMemoryTest, StreamsAreNumberedByFirstUse) {
  const auto first = c10::cuda::getStreamFromPool(false, 0);
  const auto second = c10::cuda::getStreamFromPool(false, 0);
  ASSERT_NE(first.stream(), second.stream());
  for (const auto& stream : {first, second, first, c10::cuda::getDefaultCUDAStream(0)}) {
    c10::cuda::setCurrentCUDAStream(stream);
    bytes_on_gpu(2048);
  }
  std::vector<std::uint32_t> numbers;
  for (const MemoryEvent& each : of(disarm(), MemoryAction::kAllocate)) numbers.push_back(each.stream);
  EXPECT_THAT(numbers, testing::ElementsAre(1, 2, 1, 0));
}

TEST_F(TorchMemoryTest, ARequestThatCannotBeMetIsAnEvent) {
  const at::Tensor block = bytes_on_gpu(kMib);
  const std::int64_t requested = std::int64_t{1} << 46;
  EXPECT_THROW(bytes_on_gpu(requested), c10::OutOfMemoryError);
  const MemoryState after = current();
  const event::PassRecord record = disarm();
  const auto failed = of(record, MemoryAction::kOutOfMemory);
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].bytes, requested);
  EXPECT_EQ(failed[0].address, 0u);
  EXPECT_GT(failed[0].free_bytes, 0);
  EXPECT_GE(failed[0].stack, 0);
  expect_equal(record.memory_trace.events.back().after, after);
}

TEST_F(TorchMemoryTest, SegmentsComeAndGo) {
  c10::cuda::CUDACachingAllocator::emptyCache();
  {
    const at::Tensor block = bytes_on_gpu(64 * kMib);
  }
  c10::cuda::CUDACachingAllocator::emptyCache();
  const event::PassRecord record = disarm();
  const auto taken = of(record, MemoryAction::kSegmentAllocate);
  const auto returned_to_allocator = of(record, MemoryAction::kSegmentFree);
  const auto is_big = [](const MemoryEvent& each) { return each.bytes == 64 * kMib; };
  const auto segment = std::find_if(taken.begin(), taken.end(), is_big);
  const auto freed = std::find_if(returned_to_allocator.begin(), returned_to_allocator.end(), is_big);
  ASSERT_NE(segment, taken.end());
  ASSERT_NE(freed, returned_to_allocator.end());
  EXPECT_EQ(segment->address, freed->address);
  EXPECT_EQ(segment->stack, -1);
}

TEST_F(TorchMemoryTest, NothingIsRecordedBetweenPassesNorInOthers) {
  disarm();
  bytes_on_gpu(4096);
  collector_->arm(setting_);
  const event::PassRecord empty = disarm();
  EXPECT_TRUE(empty.memory_trace.events.empty());
  EXPECT_TRUE(empty.memory_trace.cuda_peaks);
  setting_.pass = measure::Pass::kTrace;
  collector_->arm(setting_);
  bytes_on_gpu(4096);
  const event::PassRecord trace = disarm();
  EXPECT_TRUE(trace.memory_trace.events.empty());
  EXPECT_FALSE(trace.memory_trace.cuda_peaks);
}

TEST_F(TorchMemoryTest, ASecondPassStartsAnew) {
  std::optional<at::Tensor> survivor = bytes_on_gpu(kMib);
  disarm();
  collector_->arm(setting_);
  survivor.reset();
  const MemoryState after = current();
  const event::PassRecord record = disarm();
  ASSERT_EQ(record.memory_trace.events.size(), 2u) << "a block of the first pass is freed in the second";
  EXPECT_EQ(record.memory_trace.events[0].action, MemoryAction::kFreeRequested);
  EXPECT_EQ(record.memory_trace.events[0].bytes, kMib);
  expect_equal(record.memory_trace.events.back().after, after);
  EXPECT_TRUE(record.dropped_records.empty());
}

TEST_F(TorchMemoryTest, WhatGoesBeyondTheBoundIsCounted) {
  disarm();
  setting_.observation.memory_bytes = 8000;
  collector_->arm(setting_);
  for (int i = 0; i < 100; ++i) bytes_on_gpu(4096);
  const event::PassRecord record = disarm();
  ASSERT_FALSE(record.dropped_records.empty());
  EXPECT_EQ(record.dropped_records[0].source, "kymo_torch_cuda");
  EXPECT_THAT(record.dropped_records[0].detail, testing::HasSubstr("memory events"));
  EXPECT_GE(record.dropped_records[0].count + static_cast<std::int64_t>(record.memory_trace.events.size()), 300);
}

}  // namespace
}  // namespace kymo::collect
