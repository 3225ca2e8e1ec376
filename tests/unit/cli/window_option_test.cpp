// SPDX-License-Identifier: Apache-2.0
#include "cli/window_option.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace kymo::cli {
namespace {

/// "FIRST+STEPS (WARMUP)".
std::vector<std::string> windows_of(const std::string& text) {
  std::vector<std::string> found;
  for (const auto& window : windows_from(text).windows)
    found.push_back(std::to_string(window.first) + "+" + std::to_string(window.steps) + " (" +
                    std::to_string(window.warmup) + ")");
  return found;
}

TEST(WindowOption, ReadsOneOrSeveralRanges) {
  EXPECT_THAT(windows_of("10:20"), testing::ElementsAre("10+10 (3)"));
  EXPECT_THAT(windows_of("0:1"), testing::ElementsAre("0+1 (0)"));
  EXPECT_THAT(windows_of("2:5, 100:110"), testing::ElementsAre("2+3 (2)", "100+10 (3)"));
  EXPECT_EQ(windows_from("7:").windows.front().steps, measure::kMaxFreeSteps);
}

TEST(WindowOption, WarmUpStepsAreNotThoseOfTheWindowBefore) {
  EXPECT_THAT(windows_of("5:10,10:15,16:20"), testing::ElementsAre("5+5 (3)", "10+5 (0)", "16+4 (1)"));
}

TEST(WindowOption, ReadsAPeriod) {
  EXPECT_THAT(windows_of("every 500 for 5"), testing::ElementsAre("500+5 (3)"));
  EXPECT_EQ(windows_from("every 500 for 5").period, 500);
  EXPECT_THAT(windows_of("every 5 for 4"), testing::ElementsAre("5+4 (1)"));
}

TEST(WindowOption, RejectsWhatIsNoWindow) {
  for (const char* text : {"", "5", "5:5", "5:4", "a:b", "5:10,", "10:20,15:30", "30:40,10:20", "5:,20:30", "every",
                           "every 5", "every 5 for 6", "every 0 for 0", "every 5 for 2 more", "every 5 of 2"})
    EXPECT_THROW(windows_from(text), UsageError) << text;
}

}  // namespace
}  // namespace kymo::cli
