// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <csignal>

#include "cli/execute.hpp"

namespace kymo::cli {
namespace {

TEST(ExitCode, FollowsTheWorstRun) {
  EXPECT_EQ(exit_code({}, false, 0), 0);
  EXPECT_EQ(exit_code({"ok", "skipped", "oom"}, false, 0), 0);
  EXPECT_EQ(exit_code({"ok", "oom"}, true, 0), 3);
  for (const char* status : {"failed", "crashed", "timeout", "interrupted"})
    EXPECT_EQ(exit_code({"ok", status}, false, 0), 3) << status;
}

TEST(ExitCode, SignalsComeFirst) {
  EXPECT_EQ(exit_code({"ok", "failed"}, false, SIGINT), 130);
  EXPECT_EQ(exit_code({"ok"}, false, SIGTERM), 143);
}

}  // namespace
}  // namespace kymo::cli
