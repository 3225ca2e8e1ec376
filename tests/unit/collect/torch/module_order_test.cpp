// SPDX-License-Identifier: Apache-2.0
// A worker's calls in valid and invalid order.
#include <torch/types.h>

#include "unit/collect/torch/torch_test.hpp"

namespace kymo::collect {
namespace {

using measure::Pass;

class TorchModuleTest : public TorchTest {};

TEST_F(TorchModuleTest, DisarmWithoutArmGivesNothing) {
  const event::PassRecord record = disarm();
  EXPECT_TRUE(record.trace.operators.empty());
  EXPECT_TRUE(record.dropped_records.empty());
  expect_nothing_left();
}

TEST_F(TorchModuleTest, APassThatObservesNothingHasNoUseForIt) {
  EXPECT_THROW(arm(Pass::kTime), Unavailable);
  EXPECT_THROW(arm(Pass::kVerify), Unavailable);
  setting_.uses_torch = false;
  EXPECT_THROW(arm(Pass::kOps), Unavailable);
  setting_.uses_torch = true;
  setting_.execution_context = nullptr;
  EXPECT_THROW(arm(Pass::kOps), Unavailable);
  expect_nothing_left();
}

TEST_F(TorchModuleTest, ASecondArmBeginsAnew) {
  for (const Pass pass : {Pass::kOps, Pass::kMemory}) {
    arm(pass);
    torch::ones({3});
    arm(pass);
    torch::empty({3});
    const event::PassRecord record = disarm();
    expect_nothing_left();
    EXPECT_EQ(record.trace.operators.size(), pass == Pass::kOps ? 1u : 0u);
    EXPECT_EQ(record.memory_trace.events.size(), pass == Pass::kMemory ? 3u : 0u);
  }
}

TEST_F(TorchModuleTest, ASecondDisarmGivesNothing) {
  arm(Pass::kMemory);
  torch::ones({3});
  disarm();
  const event::PassRecord record = disarm();
  EXPECT_TRUE(record.memory_trace.events.empty());
  expect_nothing_left();
}

TEST_F(TorchModuleTest, ACollectorThatGoesLeavesNothing) {
  arm(Pass::kMemory);
  const auto tensor = torch::ones({3});
  collector_.reset();
  expect_nothing_left();
}

TEST_F(TorchModuleTest, OnlyOneOfTwoCollectorsCanBeArmed) {
  const auto second =
      load_module(std::filesystem::path(KYMO_BINARY_DIR) / "lib" / "kymo" / "modules" / "kymo_torch.so").make();
  arm(Pass::kOps);
  EXPECT_THROW(second->arm(setting_), std::logic_error);
  torch::empty({3});
  event::PassRecord none;
  second->disarm(none);
  EXPECT_TRUE(none.trace.operators.empty());
  EXPECT_EQ(disarm().trace.operators.size(), 1u);
  expect_nothing_left();
}

TEST_F(TorchModuleTest, ManyPassesOfAReusedWorkerCountFromZero) {
  for (int i = 0; i < 5; ++i) {
    arm(Pass::kOps);
    torch::ones({3});
    const event::PassRecord record = disarm();
    ASSERT_EQ(record.trace.operators.size(), 3u);
    EXPECT_EQ(record.trace.operators[1].parent, 0);
  }
}

TEST_F(TorchModuleTest, AnAllocatorThatSomebodyElsePutInPlaceStays) {
  struct Other final : c10::Allocator {
    explicit Other(c10::Allocator* behind) : behind_(behind) {}
    c10::DataPtr allocate(std::size_t bytes) override { return behind_->allocate(bytes); }
    c10::DeleterFnPtr raw_deleter() const override { return behind_->raw_deleter(); }
    void copy_data(void* to, const void* from, std::size_t bytes) const override {
      behind_->copy_data(to, from, bytes);
    }
    c10::Allocator* behind_;
  };
  arm(Pass::kMemory);
  static Other other(c10::GetCPUAllocator());
  c10::SetCPUAllocator(&other);
  disarm();
  EXPECT_EQ(c10::GetCPUAllocator(), &other);
  EXPECT_EQ(torch::ones({3}).sum().item<float>(), 3);
  arm(Pass::kMemory);
  torch::ones({3});
  const event::PassRecord record = disarm();
  EXPECT_TRUE(record.memory_trace.events.empty());
  ASSERT_EQ(record.dropped_records.size(), 1u);
  EXPECT_EQ(record.dropped_records[0].count, -1);
  EXPECT_THAT(record.dropped_records[0].detail, testing::HasSubstr("replaced"));
  EXPECT_EQ(c10::GetCPUAllocator(), &other);
  c10::SetCPUAllocator(allocator_before_);
}

TEST_F(TorchModuleTest, TheFormerPriorityIsPutBack) {
  arm(Pass::kMemory);
  disarm();
  struct Plain final : c10::Allocator {
    c10::DataPtr allocate(std::size_t) override { return {}; }
    void copy_data(void*, const void*, std::size_t) const override {}
  };
  static Plain plain;
  c10::SetCPUAllocator(&plain);
  EXPECT_EQ(c10::GetCPUAllocator(), &plain) << "the lowest priority still suffices";
  c10::SetCPUAllocator(allocator_before_);
}

}  // namespace
}  // namespace kymo::collect
