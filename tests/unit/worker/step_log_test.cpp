// SPDX-License-Identifier: Apache-2.0
#include "worker/step_log.hpp"

#include <gtest/gtest.h>

namespace kymo::worker {
namespace {

using Times = std::vector<event::PhaseTime>;

TEST(StepLog, StoresWholePhasesAndOther) {
  StepLog log({"forward", "backward", "optimizer"}, 1000);
  log.add({.step = 4, .begin_ns = 1500, .end_ns = 2500, .device_ns = 900, .warmup = true},
          Times{{1, 1510, 300, 200}, {2, 1820, 500, 450}, {}});
  const auto samples = log.samples();
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[0].phase, "step");
  EXPECT_EQ(samples[0].step, 4);
  EXPECT_TRUE(samples[0].warmup);
  EXPECT_EQ(samples[0].start_ns, 500);
  EXPECT_EQ(samples[0].host_ns, 1000);
  EXPECT_EQ(samples[0].device_ns, 900);
  EXPECT_EQ(samples[1].phase, "forward");
  EXPECT_EQ(samples[1].start_ns, 510);
  EXPECT_EQ(samples[2].phase, "backward");
  EXPECT_EQ(samples[2].calls, 2);
  EXPECT_EQ(samples[2].device_ns, 450);
  EXPECT_EQ(samples[3].phase, "other");
  EXPECT_EQ(samples[3].host_ns, 200);
  EXPECT_EQ(samples[3].device_ns, 250);
}

TEST(StepLog, WithoutADeviceThereIsNoDeviceTime) {
  StepLog log({"compute"}, 0);
  log.add({.begin_ns = 10, .end_ns = 20}, Times{{1, 11, 5, -1}});
  for (const auto& sample : log.samples()) EXPECT_FALSE(sample.device_ns) << sample.phase;
}

TEST(StepLog, OtherIsNeverNegative) {
  StepLog log({"a", "b"}, 0);
  log.add({.end_ns = 100, .device_ns = 100}, Times{{1, 0, 60, 80}, {1, 60, 60, 80}});
  const auto samples = log.samples();
  EXPECT_EQ(samples.back().phase, "other");
  EXPECT_EQ(samples.back().host_ns, 0);
  EXPECT_EQ(samples.back().device_ns, 0);
}

TEST(StepLog, AWorkloadWithoutPhasesHasNoOther) {
  StepLog log({}, 0);
  log.reserve(1);
  log.add({.end_ns = 100}, {});
  log.add({.step = 1, .begin_ns = 100, .end_ns = 250}, {});
  const auto samples = log.samples();
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[1].host_ns, 150);
}

TEST(StepLog, ReservingAbsurdNumbersIsHarmless) {
  StepLog log({"a"}, 0);
  log.reserve(std::int64_t{1} << 60);
  log.reserve(-5);
  EXPECT_EQ(log.size(), 0);
}

}  // namespace
}  // namespace kymo::worker
