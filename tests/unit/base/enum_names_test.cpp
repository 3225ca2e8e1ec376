// SPDX-License-Identifier: Apache-2.0
#include "base/enum_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kymo {
namespace {

enum class Color { kRed, kDarkGreen, kBlue };
constexpr auto kColors = enum_names<Color>("color", {{Color::kRed, "red"}, {Color::kDarkGreen, "dark-green"}});
static_assert(kColors.name(Color::kRed)[0] == 'r');

std::string error_of(std::string_view name) {
  try {
    kColors.value(name);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(EnumNames, AreReadAndWritten) {
  EXPECT_STREQ(kColors.name(Color::kDarkGreen), "dark-green");
  EXPECT_EQ(kColors.value("dark-green"), Color::kDarkGreen);
  EXPECT_EQ(kColors.find("red"), Color::kRed);
  EXPECT_EQ(kColors.find("Red"), std::nullopt);
  EXPECT_THAT(kColors.names(), testing::ElementsAre("red", "dark-green"));
}

TEST(EnumNames, RejectOtherNamesAndValues) {
  EXPECT_EQ(error_of("dark green"),
            "unknown color 'dark green'; expected one of red, dark-green; did you mean 'dark-green'?");
  EXPECT_EQ(error_of(""), "unknown color ''; expected one of red, dark-green");
  EXPECT_THROW(kColors.name(Color::kBlue), Error);
}

}  // namespace
}  // namespace kymo
