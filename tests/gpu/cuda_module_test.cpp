// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <cmath>

#include "gpu/gpu_test.hpp"

namespace kymo::collect {
namespace {

constexpr std::size_t kPhases = 3;

class CudaModuleTest : public GpuTest {
 protected:
  CudaModuleTest() : GpuTest("kymo_cuda") {}

  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    timer_ = module_->timer(*collector_);
    matrix_ = at::rand({4096, 4096}, at::device(at::kCUDA));
    product_ = at::empty_like(matrix_);
    multiply(3);
    timer_->synchronize();
  }

  void multiply(int times) {
    for (int i = 0; i < times; ++i) at::mm_out(product_, matrix_, matrix_);
  }
  void phase(std::size_t index, int times) {
    collector_->phase_begin(index, c10::cuda::getCurrentCUDAStream().stream());
    multiply(times);
    collector_->phase_end();
  }
  /// Runs a step and returns its duration on the host clock.
  template <typename Body>
  std::int64_t step(Body&& body) {
    timer_->synchronize();
    const std::int64_t begin_ns = now_ns();
    collector_->step_begin(0);
    body();
    timer_->synchronize();
    const std::int64_t host_ns = now_ns() - begin_ns;
    timer_->take_step(phase_ns_, whole_ns_);
    return host_ns;
  }

  DeviceTimer* timer_ = nullptr;
  at::Tensor matrix_;
  at::Tensor product_;
  std::vector<std::int64_t> phase_ns_ = std::vector<std::int64_t>(kPhases, 0);
  std::int64_t whole_ns_ = 0;
};

TEST_F(CudaModuleTest, EventsAgreeWithTheHostClock) {
  double best = 1;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const std::int64_t host_ns = step([&] { phase(1, 50); });
    ASSERT_GT(phase_ns_[1], 0);
    EXPECT_LE(phase_ns_[1], host_ns) << "device time must not exceed the step";
    best = std::min(best, 1 - static_cast<double>(phase_ns_[1]) / static_cast<double>(host_ns));
  }
  EXPECT_LT(best, 0.05);
}

TEST_F(CudaModuleTest, PhasesAddUpToTheStep) {
  step([&] {
    phase(0, 20);
    phase(2, 40);
  });
  EXPECT_EQ(phase_ns_[1], -1) << "the phase did not occur";
  const double sum = static_cast<double>(phase_ns_[0] + phase_ns_[2]);
  EXPECT_NEAR(sum / static_cast<double>(whole_ns_), 1, 0.05);
  EXPECT_NEAR(static_cast<double>(phase_ns_[2]) / static_cast<double>(phase_ns_[0]), 2, 0.4);
}

TEST_F(CudaModuleTest, SeveralEntriesOfAPhaseAreSummed) {
  step([&] { phase(0, 40); });
  const double at_once = static_cast<double>(phase_ns_[0]);
  step([&] {
    for (int i = 0; i < 4; ++i) phase(0, 10);
  });
  EXPECT_NEAR(static_cast<double>(phase_ns_[0]) / at_once, 1, 0.2);
}

TEST_F(CudaModuleTest, MoreEntriesThanEverBeforeAreTimedToo) {
  step([&] {
    for (int i = 0; i < 1000; ++i) phase(static_cast<std::size_t>(i) % kPhases, 1);
  });
  for (const std::int64_t ns : phase_ns_) EXPECT_GT(ns, 0);
  EXPECT_TRUE(disarm().dropped_records.empty());
}

TEST_F(CudaModuleTest, AStepWithoutPhasesHasNoDeviceTime) {
  step([&] { multiply(1); });
  EXPECT_EQ(whole_ns_, -1);
}

TEST_F(CudaModuleTest, PhasesOfAGraphAreTimedWhenItIsReplayed) {
  at::cuda::CUDAGraph graph;
  {
    const c10::cuda::CUDAStreamGuard side(c10::cuda::getStreamFromPool());
    multiply(1);  // library initialization must not be captured
    timer_->synchronize();
    collector_->step_begin(0);
    graph.capture_begin();
    phase(0, 20);
    graph.capture_end();
  }
  timer_->take_step(phase_ns_, whole_ns_);
  EXPECT_EQ(phase_ns_[0], -1) << "captured, not run";
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "no error must remain";
  for (int i = 0; i < 3; ++i) {
    step([&] {
      collector_->phase_begin(1, c10::cuda::getCurrentCUDAStream().stream());
      graph.replay();
      collector_->phase_end();
    });
    EXPECT_GT(phase_ns_[0], 0) << "the captured phase ran";
    EXPECT_GE(phase_ns_[1], 0);
    EXPECT_NEAR(static_cast<double>(phase_ns_[0] + phase_ns_[1]), static_cast<double>(whole_ns_), 1000)
        << "the captured phase interrupts that of the replay";
  }
  step([&] { phase(1, 20); });
  EXPECT_EQ(phase_ns_[0], -1) << "replayed in an earlier step";
}

TEST_F(CudaModuleTest, ReadsTheGpuBesideTheSteps) {
  if (!machine::has_nvml()) GTEST_SKIP() << "NVML is not available";
  step([&] { phase(0, 20); });
  collector_->between_steps(5);
  const event::PassRecord record = disarm();
  ASSERT_TRUE(record.dropped_records.empty()) << record.dropped_records[0].detail;
  ASSERT_EQ(record.gpu_samples.size(), 1u);
  const event::GpuSample& reading = record.gpu_samples[0];
  EXPECT_EQ(reading.step, 5);
  EXPECT_GT(reading.sm_clock_mhz.value_or(0), 100);
  EXPECT_GT(reading.temperature_c.value_or(0), 5);
  EXPECT_LT(reading.temperature_c.value_or(999), 120);
}

/// Mean of a value over the intervals wholly between two times.
double mean_between(const std::vector<event::GpuUtilization>& intervals, std::int64_t begin_ns, std::int64_t end_ns,
                    std::optional<double> event::GpuUtilization::* value) {
  double sum = 0;
  int count = 0;
  for (const event::GpuUtilization& interval : intervals) {
    if (interval.start_ns < begin_ns || interval.end_ns > end_ns) continue;
    EXPECT_TRUE(interval.*value);
    sum += (interval.*value).value_or(0);
    ++count;
  }
  EXPECT_GE(count, 3);
  return sum / std::max(count, 1);
}

TEST_F(CudaModuleTest, ShowsProductsAndCopiesInTheUtilization) {
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  PassSetting setting = setting_;
  setting.pass = measure::Pass::kMemory;
  setting.run_start_ns = now_ns();
  collector_->arm(setting);
  const at::Tensor left = at::rand({8192, 8192}, at::device(at::kCUDA).dtype(at::kBFloat16));
  at::Tensor product = at::empty_like(left);
  const at::Tensor from = at::rand({1 << 28}, at::device(at::kCUDA));
  at::Tensor to = at::empty_like(from);
  /// Repeats the work for longer than a second, and returns its begin and end.
  const auto repeat = [&](const auto& work) {
    timer_->synchronize();
    const std::int64_t begin_ns = now_ns() - setting.run_start_ns;
    while (now_ns() - setting.run_start_ns < begin_ns + kSecondNs) {
      for (int i = 0; i < 50; ++i) work();
      timer_->synchronize();
    }
    return std::pair(begin_ns, now_ns() - setting.run_start_ns);
  };
  const auto [products, products_end] = repeat([&] { at::mm_out(product, left, left); });
  const auto [copies, copies_end] = repeat([&] { to.copy_(from); });
  const event::PassRecord record = disarm();
  const auto& intervals = record.gpu_utilization;
  if (intervals.empty() || !intervals[0].tensor_utilization) GTEST_SKIP() << "the GPU does not support GPM";
  using U = event::GpuUtilization;
  EXPECT_GT(mean_between(intervals, products, products_end, &U::tensor_utilization), 0.6);
  EXPECT_LT(mean_between(intervals, products, products_end, &U::dram_utilization), 0.5);
  EXPECT_LT(mean_between(intervals, copies, copies_end, &U::tensor_utilization), 0.05);
  EXPECT_GT(mean_between(intervals, copies, copies_end, &U::dram_utilization), 0.6);
}

TEST_F(CudaModuleTest, DescribesTheGpu) {
  const std::vector<event::Device> devices = module_->devices();
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(devices[0].uuid.size(), 40u);
  EXPECT_FALSE(devices[0].name.empty());
  EXPECT_GT(devices[0].multiprocessors.value_or(0), 0);
  EXPECT_GE(devices[0].multiprocessor_threads.value_or(0), 1024);
  EXPECT_GE(devices[0].multiprocessor_blocks.value_or(0), 16);
  EXPECT_GE(devices[0].multiprocessor_registers.value_or(0), 65536);
  EXPECT_GE(devices[0].multiprocessor_shared_bytes.value_or(0), 64 << 10);
  EXPECT_LE(devices[0].reserved_shared_bytes.value_or(-1), 4 << 10);
  EXPECT_GT(devices[0].max_sm_clock_mhz.value_or(0), 100);
  EXPECT_FALSE(module_->driver_version().empty());
}

}  // namespace
}  // namespace kymo::collect
