// SPDX-License-Identifier: Apache-2.0
#include "worker/reference_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "unit/worker/engine_fixture.hpp"
#include "unit/worker/proc_folder.hpp"

namespace kymo::worker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::int64_t> steps_of(const std::vector<event::ReferenceLoop>& loops) {
  std::vector<std::int64_t> steps;
  for (const event::ReferenceLoop& loop : loops) {
    EXPECT_GT(loop.duration_ns, 0);
    steps.push_back(loop.step);
  }
  return steps;
}

class ReferenceLogTest : public ProcFolderTest {
 protected:
  static constexpr std::int64_t kMs = 1'000'000;
  static constexpr std::int64_t kLater = 3'600'000 * kMs;  // whatever a check took

  void thread_is(std::int64_t thread, char state) const {
    put("self/task/" + std::to_string(thread) + "/stat", std::to_string(thread) + " (a ) R) " + state + " 1 1 1\n");
  }
};

TEST_F(ReferenceLogTest, MeasuresFromTimeToTime) {
  ReferenceLog log(proc);
  log.begin(4, 0);
  log.add(5, {1 * kMs, 0}, 1 * kMs, 1 * kMs);
  log.add(6, {9 * kMs, 0}, 10 * kMs, ReferenceLog::kIntervalNs - 1);
  log.add(7, {9 * kMs, 0}, 10 * kMs, kLater);
  log.add(8, {9 * kMs, 0}, 10 * kMs, kLater + ReferenceLog::kIntervalNs - 1);
  log.end(8);
  EXPECT_THAT(steps_of(log.take()), ElementsAre(4, 7, 8));
}

TEST_F(ReferenceLogTest, MeasuresOnceAfterAStep) {
  ReferenceLog log(proc);
  log.begin(-1, 0);
  log.add(0, {9 * kMs, 0}, 10 * kMs, kLater);
  log.end(0);
  EXPECT_THAT(steps_of(log.take()), ElementsAre(-1, 0));
}

TEST_F(ReferenceLogTest, IgnoresMeasurementsBesideAnotherThreadOfTheProcess) {
  thread_is(gettid(), 'R');
  thread_is(10, 'S');
  ReferenceLog log(proc);
  log.begin(4, 0);
  log.add(5, {9 * kMs, 0}, 10 * kMs, ReferenceLog::kIntervalNs);
  thread_is(10, 'R');
  log.add(6, {9 * kMs, 0}, 10 * kMs, kLater);
  thread_is(10, 'S');
  log.add(7, {9 * kMs, 0}, 10 * kMs, 2 * kLater);
  log.end(8);
  EXPECT_THAT(steps_of(log.take()), ElementsAre(4, 7, 8)) << "since the last check, too";
}

TEST_F(ReferenceLogTest, SaysNothingAboutStepsThatSleep) {
  for (const std::int64_t cpu_ns : {kMs / 2, 2 * kMs}) {
    ReferenceLog log(proc);
    log.begin(4, 0);
    log.add(5, {cpu_ns, 0}, 10 * kMs, 10 * kMs);
    log.end(5);
    EXPECT_EQ(log.take().size(), cpu_ns > kMs ? 2u : 0u);
  }
}

/// A pass whose steps use the processor for at least 30 ms in all.
class ReferencePassTest : public EngineTest {
 protected:
  ReferencePassTest() {
    assignment.method.warmup = 2;
    assignment.method.steps = 3;
    workload.on_step = [](const FakeHost&) {
      const std::int64_t since_ns = process_usage().cpu_ns;
      while (process_usage().cpu_ns < since_ns + 10'000'000) {
      }
      return KYMO_OK;
    };
  }
  std::vector<std::int64_t> steps() { return steps_of(run(workload).record.reference_loops); }

  FakeWorkload workload;
};

TEST_F(ReferencePassTest, MeasuresBeforeTheFirstAndAfterTheLastMeasuredStep) {
  const std::vector<std::int64_t> found = steps();
  ASSERT_GE(found.size(), 2u);
  EXPECT_EQ(found.front(), 1);
  EXPECT_EQ(found.back(), 4);
}

TEST_F(ReferencePassTest, DoesNotMeasureInOtherPassesNorBesideOtherRanksNorOnAGpu) {
  assignment.pass = measure::Pass::kOps;
  EXPECT_THAT(steps(), IsEmpty());
  assignment.pass = measure::Pass::kTime;
  assignment.what.device = measure::DeviceKind::kCuda;
  EXPECT_THAT(steps(), IsEmpty());
  assignment.what.device = measure::DeviceKind::kCpu;
  assignment.what.ranks = 2;
  EXPECT_THAT(steps(), IsEmpty());
}

}  // namespace
}  // namespace kymo::worker
