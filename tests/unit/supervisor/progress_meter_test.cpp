// SPDX-License-Identifier: Apache-2.0
#include "supervisor/progress_meter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kymo::supervisor {
namespace {

using testing::ElementsAre;

PlannedRun planned(std::int64_t size, int ranks = 1, int repetition = 0) {
  PlannedRun run;
  run.what.workload = "saxpy";
  run.what.parameters = {{"n", size}, {"dtype", std::string("fp32")}};
  run.what.ranks = ranks;
  run.repetition = repetition;
  return run;
}

TEST(RunTitles, NameOnlyWhatDiffers) {
  EXPECT_THAT(run_titles({planned(1), planned(2), planned(2, 1, 1)}),
              ElementsAre("saxpy n=1", "saxpy n=2", "saxpy n=2 #2"));
  EXPECT_THAT(run_titles({planned(1), planned(1, 2)}), ElementsAre("saxpy ranks=1", "saxpy ranks=2"));
  EXPECT_THAT(run_titles({planned(1)}), ElementsAre("saxpy"));
}

struct Shown {
  std::vector<ProgressView> views;
  ProgressMeter meter;
  explicit Shown(std::size_t runs)
      : meter(std::vector<PlannedRun>(runs, planned(1)), [this](const ProgressView& view) { views.push_back(view); }) {}
};

TEST(ProgressMeter, ShowsAtMostTenTimesASecondAndNeverLosesTheLast) {
  Shown shown(1);
  shown.meter.begin_run(0, 0);
  for (int step = 0; step < 1000; ++step) shown.meter.update({"step", step, 1000}, step * 0.001);
  EXPECT_LE(shown.views.size(), 11u);
  EXPECT_GE(shown.views.size(), 8u);
  shown.meter.tick(2);
  EXPECT_EQ(shown.views.back().step, 999);
  const std::size_t count = shown.views.size();
  shown.meter.tick(3);
  EXPECT_EQ(shown.views.size(), count) << "nothing new";
}

TEST(ProgressMeter, EstimatesFromStepsAndFromFinishedRuns) {
  Shown shown(3);
  shown.meter.begin_run(0, 0);
  EXPECT_EQ(shown.views.back().seconds_left, -1);
  shown.meter.begin_pass(1, 2);
  shown.meter.update({"step", 5, 10}, 6);
  EXPECT_NEAR(shown.views.back().seconds_left, 2 + 2 * 8, 1e-9) << "three quarters took 6 s";
  shown.meter.end_run(10);
  shown.meter.begin_run(1, 10);
  EXPECT_NEAR(shown.views.back().seconds_left, 20, 1e-9);
  EXPECT_EQ(shown.views.back().run_index, 1u);
  EXPECT_EQ(shown.views.back().run_count, 3u);
}

TEST(ProgressMeter, NeedsNobodyToListen) {
  ProgressMeter meter({planned(1)}, nullptr);
  EXPECT_NO_THROW(meter.begin_run(0, 1));
  EXPECT_NO_THROW(meter.update({"step", 1, 2}, 2)) << "a view is due";
  EXPECT_NO_THROW(meter.tick(3));
  EXPECT_NO_THROW(meter.end_run(4));
}

}  // namespace
}  // namespace kymo::supervisor
