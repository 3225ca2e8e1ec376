// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <csignal>

#include "cli/execute.hpp"

namespace kymo::cli {
namespace {

using enum measure::RunStatus;

TEST(ExitCode, FollowsTheWorstRun) {
  EXPECT_EQ(exit_code({}, false), 0);
  EXPECT_EQ(exit_code({.runs = {{kOk}, {kSkipped}, {kOom}}}, false), 0);
  EXPECT_EQ(exit_code({.runs = {{kOk}, {kOom}}}, true), 3);
  for (const auto status : {kFailed, kCrashed, kTimeout, kInterrupted})
    EXPECT_EQ(exit_code({.runs = {{kOk}, {status}}}, false), 3) << to_string(status);
}

TEST(ExitCode, SignalsComeFirst) {
  EXPECT_EQ(exit_code({.runs = {{kOk}, {kFailed}}, .signal = SIGINT}, false), 130);
  EXPECT_EQ(exit_code({.runs = {{kOk}}, .signal = SIGTERM}, false), 143);
}

}  // namespace
}  // namespace kymo::cli
