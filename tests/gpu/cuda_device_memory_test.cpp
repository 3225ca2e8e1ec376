// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <thread>

#include "gpu/trace_test.hpp"

namespace kymo::collect {
namespace {

class DeviceMemoryTest : public TraceTest {
 protected:
  void SetUp() override {
    TraceTest::SetUp();
    if (!IsSkipped() && !machine::has_nvml()) GTEST_SKIP() << "NVML is not available";
  }
  static const event::DeviceMemory* at(const event::PassRecord& record, const std::string& moment) {
    for (const auto& reading : record.memory_trace.device) {
      if (reading.stage == moment) return &reading;
    }
    return nullptr;
  }
};

TEST_F(DeviceMemoryTest, IsReadAtItsMomentsAndInBetween) {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  setting_.pass = measure::Pass::kMemory;
  arm();
  collector_->before_steps();
  execution_context_.step = 4;
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, kBytes), cudaSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  collector_->between_steps(4);
  cudaFree(device);
  const event::PassRecord record = disarm();
  ASSERT_FALSE(record.memory_trace.device.empty()) << all_dropped_records(record);
  for (const char* moment : {"before cuda", "context created", "prepared", "after step", "end"}) {
    ASSERT_NE(at(record, moment), nullptr) << moment;
    EXPECT_GT(at(record, moment)->used_bytes, 0) << moment;
  }
  EXPECT_EQ(at(record, "after step")->step, 4);
  EXPECT_EQ(at(record, "prepared")->step, -1);
  EXPECT_GE(at(record, "after step")->used_bytes - at(record, "prepared")->used_bytes,
            static_cast<std::int64_t>(kBytes) * 9 / 10);
  int between = 0;
  std::int64_t last_ns = -setting_.run_start_ns;
  for (const auto& reading : record.memory_trace.device) {
    between += reading.stage.empty() && reading.step == 4;
    EXPECT_GE(reading.time_ns, last_ns);
    last_ns = reading.time_ns;
  }
  EXPECT_GE(between, 3);
}

TEST_F(DeviceMemoryTest, TracingPassesReadAtMomentsAloneAndNotAfterEachShortStep) {
  arm();
  collector_->before_steps();
  for (int step = 0; step < 3; ++step) collector_->between_steps(step);
  const event::PassRecord record = disarm();
  ASSERT_FALSE(record.memory_trace.device.empty()) << all_dropped_records(record);
  std::map<std::string, int> moments;
  for (const auto& reading : record.memory_trace.device) ++moments[reading.stage];
  EXPECT_EQ(moments, (std::map<std::string, int>{
                         {"before cuda", 1}, {"context created", 1}, {"prepared", 1}, {"after step", 1}, {"end", 1}}));
  EXPECT_EQ(record.gpu_samples.size(), 1u);
}

TEST_F(DeviceMemoryTest, ATimePassReadsNone) {
  setting_.pass = measure::Pass::kTime;
  arm();
  collector_->before_steps();
  collector_->between_steps(0);
  EXPECT_TRUE(disarm().memory_trace.device.empty());
}

}  // namespace
}  // namespace kymo::collect
