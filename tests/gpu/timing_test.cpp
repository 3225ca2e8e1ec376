// SPDX-License-Identifier: Apache-2.0
// Passes with the timings hot and cold, run by the worker's engine on workloads that only queue copies and memsets.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/clock.hpp"
#include "collect/module.hpp"
#include "gpu/machine.hpp"
#include "unit/worker/fake_control.hpp"
#include "unit/worker/fake_workload.hpp"
#include "worker/engine.hpp"

namespace kymo::worker {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::size_t kTinyBytes = 256;
constexpr std::size_t kInCacheBytes = std::size_t{4}
                                      << 20;  // source and destination fit the L2 cache of every supported GPU

class GpuTiming : public testing::Test {
 protected:
  void SetUp() override {
    if (!machine::has_gpu()) GTEST_SKIP() << "no GPU";
    int count = 0;
    ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
    ASSERT_GT(count, 0);
    const collect::Module& module =
        collect::load_module(std::filesystem::path(KYMO_BINARY_DIR) / "lib" / "kymo" / "modules" / "kymo_cuda.so");
    collector_ = module.make();
    observers_.all = {{collector_.get(), module.timer(*collector_)}};
    ASSERT_EQ(cudaStreamCreateWithFlags(&side_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&from_, kInCacheBytes), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&to_, kInCacheBytes), cudaSuccess);
    ASSERT_EQ(cudaMemset(from_, 1, kInCacheBytes), cudaSuccess);
    workload_.table().flags = KYMO_STEP_IS_ASYNCHRONOUS;
    assignment_.what.device = measure::DeviceKind::kCuda;
    assignment_.method.warmup = 5;
    assignment_.method.steps = 40;
  }
  void TearDown() override {
    collector_.reset();
    cudaFree(from_);
    cudaFree(to_);
    if (side_) cudaStreamDestroy(side_);
  }

  template <typename Queue>
  void step_is(Queue queue) {
    workload_.on_step = [this, queue](const FakeHost& host) {
      if (host.host->phase_begin(host.context, "compute", stream_) != KYMO_OK)
        return static_cast<kymo_status>(KYMO_FAILED);
      const cudaError_t error = queue();
      if (error != cudaSuccess) return host.fail(KYMO_FAILED, cudaGetErrorString(error));
      return host.end();
    };
  }
  void step_is_tiny() {
    step_is([this] { return cudaMemsetAsync(to_, 0, kTinyBytes, stream_); });
  }
  void step_is_a_copy() {
    step_is([this] { return cudaMemcpyAsync(to_, from_, kInCacheBytes, cudaMemcpyDeviceToDevice, stream_); });
  }

  PassResult timed(measure::Timing timing) {
    assignment_.method.timing = timing;
    PassResult result = run_pass(assignment_, workload_.plugin(), observers_, control_, {now_ns(), {}});
    collector_->reset();
    return result;
  }
  /// Returns the median device time of the measured steps in ns, or -1 if one is missing.
  std::int64_t median_ns(const PassResult& result) {
    EXPECT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
    std::vector<std::int64_t> times;
    for (const event::Sample& sample : result.record.samples) {
      if (sample.phase == "compute" && !sample.warmup) times.push_back(sample.device_ns.value_or(-1));
    }
    EXPECT_EQ(times.size(), 40u);
    if (times.empty() || *std::min_element(times.begin(), times.end()) < 0) return -1;
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  std::unique_ptr<collect::Collector> collector_;
  Observers observers_;
  FakeControl control_;
  FakeWorkload workload_{{"compute"}};
  measure::protocol::Assignment assignment_ = fake_assignment();
  cudaStream_t side_ = nullptr;
  cudaStream_t stream_ = nullptr;  // stream of the phase
  void* from_ = nullptr;
  void* to_ = nullptr;
};

TEST_F(GpuTiming, HotHidesTheLaunchOfATinyStep) {
  step_is_tiny();
  const std::int64_t sync_ns = median_ns(timed(measure::Timing::kSync));
  const PassResult hot = timed(measure::Timing::kHot);
  EXPECT_GT(sync_ns, 0);
  EXPECT_GT(median_ns(hot), 0);
  EXPECT_LE(median_ns(hot), sync_ns);
  const auto metric = std::find_if(hot.record.metrics.begin(), hot.record.metrics.end(),
                                   [](const event::Metric& one) { return one.name == "steps_per_sample"; });
  ASSERT_NE(metric, hot.record.metrics.end());
  EXPECT_GT(metric->number.value_or(0), 10);
}

TEST_F(GpuTiming, HotTimesTheDeviceAndNotTheQueueing) {
  step_is([this] {
    const std::int64_t queued_ns = now_ns() + 100'000;
    while (now_ns() < queued_ns) {
    }
    return cudaMemsetAsync(to_, 0, kTinyBytes, stream_);
  });
  const PassResult result = timed(measure::Timing::kHot);
  EXPECT_GT(median_ns(result), 0);
  EXPECT_LT(median_ns(result), 50'000) << "the whole batch must be queued before it starts";
  EXPECT_THAT(result.record.dropped_records, testing::IsEmpty());
}

TEST_F(GpuTiming, HotSaysSoIfItsStepsWaitForTheDevice) {
  step_is([this] {
    const cudaError_t error = cudaMemsetAsync(to_, 0, kTinyBytes, stream_);
    return error == cudaSuccess ? cudaStreamSynchronize(stream_) : error;
  });
  const PassResult result = timed(measure::Timing::kHot);
  EXPECT_GT(median_ns(result), 0);
  const auto& warnings = result.record.warnings;
  const auto held = std::ranges::find(warnings, "launch overhead", &event::Warning::kind);
  ASSERT_NE(held, warnings.end());
  EXPECT_THAT(held->detail, HasSubstr("synchronizes with the device"));
}

TEST_F(GpuTiming, HotSaysSoIfItsStepsEnqueueNoWork) {
  const auto is_idle = [this] {
    return std::ranges::count(timed(measure::Timing::kHot).record.warnings, "short steps", &event::Warning::kind) > 0;
  };
  step_is([] { return cudaSuccess; });
  EXPECT_TRUE(is_idle());
  step_is_tiny();
  EXPECT_FALSE(is_idle());
}

TEST_F(GpuTiming, ColdFindsNothingInTheCache) {
  for (cudaStream_t stream : {cudaStream_t{nullptr}, side_}) {
    stream_ = stream;
    step_is_a_copy();
    const std::int64_t hot_ns = median_ns(timed(measure::Timing::kHot));
    const std::int64_t cold_ns = median_ns(timed(measure::Timing::kCold));
    EXPECT_GT(hot_ns, 0);
    EXPECT_GT(cold_ns, hot_ns) << (stream ? "a separate stream" : "the default stream");
  }
}

TEST_F(GpuTiming, HoldingDoesNotCountAsTimeOfTheStep) {
  step_is([this] {
    const std::int64_t queued_ns = now_ns() + 20'000'000;
    while (now_ns() < queued_ns) {
    }
    return cudaMemsetAsync(to_, 0, kTinyBytes, stream_);
  });
  assignment_.method.warmup = 1;
  const std::int64_t cold_ns = median_ns(timed(measure::Timing::kCold));
  EXPECT_GT(cold_ns, 0);
  EXPECT_LT(cold_ns, 10'000'000) << "the device must start when all work is queued";
}

TEST_F(GpuTiming, AStepThatLiesEndsInAnError) {
  for (cudaStream_t stream : {cudaStream_t{nullptr}, side_}) {
    stream_ = stream;
    step_is([this] {
      const cudaError_t error = cudaMemsetAsync(to_, 0, kTinyBytes, stream_);
      return error == cudaSuccess ? cudaStreamSynchronize(stream_) : error;
    });
    const std::int64_t begin_ns = now_ns();
    const PassResult result = timed(measure::Timing::kCold);
    EXPECT_LT(now_ns() - begin_ns, 5 * kSecond);
    EXPECT_EQ(result.outcome.status, RunStatus::kFailed);
    EXPECT_THAT(result.outcome.detail, HasSubstr("synchronizes with the device"));
  }
  // The stream is released: the same collector times the next case.
  step_is_a_copy();
  EXPECT_GT(median_ns(timed(measure::Timing::kCold)), 0);
}

TEST_F(GpuTiming, AFailedStepLeavesNothingHeld) {
  workload_.on_step = [this](const FakeHost& host) {
    host.host->phase_begin(host.context, "compute", stream_);
    return workload_.count("step") > 6 ? host.fail(KYMO_FAILED, "enough") : host.end();
  };
  EXPECT_EQ(timed(measure::Timing::kCold).outcome.detail, "enough");
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(GpuTiming, ABatchOverSeveralStreamsIsSaidToBeUntimed) {
  step_is([this] {
    stream_ = stream_ ? nullptr : side_;
    return cudaSuccess;
  });
  const PassResult result = timed(measure::Timing::kHot);
  EXPECT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
  ASSERT_FALSE(result.record.dropped_records.empty());
  EXPECT_THAT(result.record.dropped_records.back().detail, HasSubstr("several streams"));
  for (const event::Sample& sample : result.record.samples) {
    EXPECT_EQ(sample.device_ns.has_value(), sample.warmup);
  }
}

}  // namespace
}  // namespace kymo::worker
