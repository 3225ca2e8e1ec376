// SPDX-License-Identifier: Apache-2.0
#include "terminal/progress.hpp"

#include <gtest/gtest.h>

namespace kymo::terminal {
namespace {

supervisor::ProgressView view() {
  supervisor::ProgressView result;
  result.run_index = 1;
  result.run_count = 4;
  result.title = "w size=\ntiny";
  result.stage = "step";
  result.step = 4;
  result.steps = 8;
  result.seconds_left = 83;
  return result;
}

TEST(Progress, LineSaysWhatAndHowFar) {
  EXPECT_EQ(progress_line(view(), 200), "[#######.............] 2/4 w size=\\ntiny | step 5/8 | 1 min 23 s left");
}

TEST(Progress, LineFitsTheTerminal) {
  for (std::size_t columns = 1; columns < 80; ++columns)
    EXPECT_LT(progress_line(view(), columns).size(), columns == 1 ? 2 : columns);
}

TEST(Progress, UnknownPartsAreLeftOut) {
  supervisor::ProgressView unknown;
  unknown.title = "w";
  EXPECT_EQ(progress_line(unknown, 200), "[....................] run 1 w");
}

TEST(Progress, ALimitOfTimeReplacesTheNumberOfRuns) {
  supervisor::ProgressView limited = view();
  limited.run_count = 0;
  limited.share_done = 0.25;
  limited.seconds_left = 6;
  limited.may_end_earlier = true;
  EXPECT_EQ(progress_line(limited, 200), "[#####...............] run 2 w size=\\ntiny | step 5/8 | at most 6 s left");
}

}  // namespace
}  // namespace kymo::terminal
