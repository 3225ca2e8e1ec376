// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/statistics.hpp"

namespace kymo::measure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

event::GpuSample reading(std::int64_t step, std::optional<std::int64_t> clock_mhz, std::int64_t reasons = 0) {
  event::GpuSample sample;
  sample.step = step;
  sample.sm_clock_mhz = clock_mhz;
  sample.throttle_reasons = reasons;
  return sample;
}

std::vector<event::Sample> steps(std::int64_t count) {
  std::vector<event::Sample> samples;
  for (std::int64_t step = 0; step < count; ++step) {
    event::Sample sample;
    sample.step = step;
    samples.push_back(sample);
  }
  return samples;
}

std::vector<bool> flags(const std::vector<event::Sample>& samples) {
  std::vector<bool> result;
  for (const auto& sample : samples) result.push_back(sample.throttled);
  return result;
}

TEST(Throttle, HeatAndHardwareCount) {
  EXPECT_THAT(throttled_readings({reading(0, 1500), reading(1, 1500, 0x8), reading(2, 1500, 0x20),
                                  reading(3, 1500, 0x40), reading(4, 1500, 0x80)}),
              ElementsAre(1, 2, 3, 4));
}

TEST(Throttle, PowerCapIdleAndApplicationClocksDoNot) {
  EXPECT_THAT(throttled_readings({reading(0, 1500, 0x1), reading(1, 1500, 0x2), reading(2, 1500, 0x4),
                                  reading(3, 1500, 0x10 | 0x100)}),
              IsEmpty());
}

TEST(Throttle, AClockBelowThreeQuartersOfTheUsualCounts) {
  EXPECT_THAT(
      throttled_readings({reading(0, 2000), reading(1, 1500), reading(2, 1499), reading(3, 2000), reading(4, 2000)}),
      ElementsAre(2));
}

TEST(Throttle, AMachineThatIsAlwaysSlowIsUsual) {
  EXPECT_THAT(throttled_readings({reading(0, 300), reading(1, 300), reading(2, 300)}), IsEmpty());
}

TEST(Throttle, AnUnknownClockSaysNothing) {
  EXPECT_THAT(throttled_readings({reading(0, std::nullopt), reading(1, std::nullopt, 0x40)}), ElementsAre(1));
}

TEST(Throttle, AStepGoesByTheReadingThatFollowsIt) {
  auto samples = steps(6);
  mark_throttled(samples, {reading(1, 1000), reading(3, 1000, 0x40), reading(4, 1000)});
  EXPECT_THAT(flags(samples), ElementsAre(false, false, true, true, false, false));
}

TEST(Throttle, StepsAfterTheLastReadingGoByIt) {
  auto samples = steps(4);
  mark_throttled(samples, {reading(0, 1000), reading(1, 1000), reading(2, 100)});
  EXPECT_THAT(flags(samples), ElementsAre(false, false, true, true));
}

TEST(Throttle, WithoutReadingsNothingIsThrottled) {
  auto samples = steps(2);
  mark_throttled(samples, {});
  EXPECT_THAT(flags(samples), ElementsAre(false, false));
}

}  // namespace
}  // namespace kymo::measure
