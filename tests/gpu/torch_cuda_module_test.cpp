// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime_api.h>

#include <tuple>

#include "gpu/gpu_test.hpp"

namespace kymo::collect {
namespace {

constexpr std::int64_t kMib = 1 << 20;

class TorchCudaModuleTest : public GpuTest {
 protected:
  TorchCudaModuleTest() : GpuTest("kymo_torch_cuda") {}
  /// Memory that the process already holds, for example workspaces of matrix libraries from other tests.
  static std::int64_t held_bytes() {
    return c10::cuda::CUDACachingAllocator::getDeviceStats(0).allocated_bytes[0].current;
  }
  static at::Tensor bytes_on_gpu(std::int64_t bytes) {
    return at::empty({bytes}, at::device(at::kCUDA).dtype(at::kByte));
  }
};

TEST_F(TorchCudaModuleTest, PeaksAreThoseOfThePass) {
  const std::int64_t held = held_bytes();
  {
    const at::Tensor block = bytes_on_gpu(64 * kMib);
  }
  {
    const at::Tensor block = bytes_on_gpu(32 * kMib);
  }
  EXPECT_EQ(disarm().memory.allocated_bytes, held + 64 * kMib);
  collector_->reset();
  collector_->arm(setting_);
  {
    const at::Tensor block = bytes_on_gpu(16 * kMib);
  }
  const event::PassRecord second = disarm();
  EXPECT_EQ(second.memory.allocated_bytes, held + 16 * kMib);
  EXPECT_GE(second.memory.reserved_bytes.value_or(0), held + 16 * kMib);
  EXPECT_LT(second.memory.reserved_bytes.value_or(0), held + 64 * kMib) << "the cache must be released";
}

TEST_F(TorchCudaModuleTest, CountsWhatEachStepTookFromTheDriver) {
  collector_->before_steps();
  const at::Tensor first = bytes_on_gpu(64 * kMib);
  collector_->between_steps(0);
  collector_->between_steps(1);
  const event::PassRecord record = disarm();
  ASSERT_EQ(record.memory_counters.size(), 3u);
  const auto& [before, after, later] =
      std::tie(record.memory_counters[0], record.memory_counters[1], record.memory_counters[2]);
  EXPECT_EQ(before.step, -1);
  EXPECT_EQ(after.step, 0);
  EXPECT_EQ(after.allocated_bytes - before.allocated_bytes, 64 * kMib);
  EXPECT_GE(after.reserved_bytes, after.allocated_bytes);
  EXPECT_EQ(later.device_allocations, after.device_allocations) << "no allocation request in between";
  collector_->arm(setting_);
  EXPECT_TRUE(disarm().memory_counters.empty()) << "readings of an earlier pass must be discarded";
}

TEST_F(TorchCudaModuleTest, ReadsSeldomAfterTheFirstStepsOfAProgram) {
  disarm();
  setting_.reading_share = 500;
  collector_->arm(setting_);
  collector_->before_steps();
  for (std::int64_t step = 0; step < 1000; ++step) collector_->between_steps(step);  // in less than 50 ms
  const event::PassRecord record = disarm();
  ASSERT_GE(record.memory_counters.size(), 12u);
  EXPECT_LT(record.memory_counters.size(), 50u);
  for (std::size_t i = 0; i < 11; ++i) EXPECT_EQ(record.memory_counters[i].step, static_cast<std::int64_t>(i) - 1);
  setting_.pass = measure::Pass::kMemory;
  collector_->arm(setting_);
  for (std::int64_t step = 0; step < 100; ++step) collector_->between_steps(step);
  EXPECT_EQ(disarm().memory_counters.size(), 100u);
}

TEST_F(TorchCudaModuleTest, OutOfMemoryHasItsSizes) {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
  const std::int64_t held = held_bytes();
  const at::Tensor block = bytes_on_gpu(64 * kMib);
  // A multiple of the allocator's granularity, so that the size is not rounded.
  const std::int64_t requested = static_cast<std::int64_t>(total_bytes) / (2 * kMib) * (2 * kMib) * 2;
  EXPECT_THROW(bytes_on_gpu(requested), c10::OutOfMemoryError);
  event::PassRecord record;
  record.out_of_memory = event::OutOfMemory{"device", {}, {}, {}};
  collector_->disarm(record);
  EXPECT_EQ(record.out_of_memory->requested_bytes, requested);
  EXPECT_EQ(record.out_of_memory->peak_bytes, held + 64 * kMib);
  EXPECT_GT(record.out_of_memory->free_bytes.value_or(0), 0);
  EXPECT_LE(record.out_of_memory->free_bytes.value_or(0), static_cast<std::int64_t>(total_bytes));
}

TEST_F(TorchCudaModuleTest, AFailureThatWasOvercomeIsNotReported) {
  EXPECT_THROW(bytes_on_gpu(std::int64_t{1} << 46), c10::OutOfMemoryError);
  EXPECT_FALSE(disarm().out_of_memory);
}

TEST_F(TorchCudaModuleTest, AnEarlierPassesFailureIsForgotten) {
  EXPECT_THROW(bytes_on_gpu(std::int64_t{1} << 46), c10::OutOfMemoryError);
  disarm();
  collector_->arm(setting_);
  event::PassRecord record;
  record.out_of_memory = event::OutOfMemory{"device", {}, {}, {}};
  collector_->disarm(record);
  EXPECT_FALSE(record.out_of_memory->requested_bytes);
}

}  // namespace
}  // namespace kymo::collect
