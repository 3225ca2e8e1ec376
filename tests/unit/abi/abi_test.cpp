// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <kymo_plugin.h>

#include <iterator>
#include <type_traits>

#include "layout.h"

extern "C" {
extern const std::size_t kymo_layout_in_c[];
extern const std::size_t kymo_layout_count;
}

namespace {

struct Fact {
  const char* text;
  std::size_t value;
};
#define NAMED(fact) {#fact, fact},
constexpr Fact kLayout[] = {KYMO_LAYOUT(NAMED)};

TEST(Abi, IsLaidOutAlikeInCAndCpp) {
  ASSERT_EQ(kymo_layout_count, std::size(kLayout));
  for (std::size_t i = 0; i < std::size(kLayout); ++i)
    EXPECT_EQ(kymo_layout_in_c[i], kLayout[i].value) << kLayout[i].text;
}

// Released plugins were built with these sizes and offsets. Appending a member changes a size and requires a new
// KYMO_ABI_MINOR and an update of this list.
TEST(Abi, KeepsTheLayoutOfVersion2_1) {
  ASSERT_EQ(KYMO_ABI_MAJOR, 2);
  ASSERT_EQ(KYMO_ABI_MINOR, 1);
  constexpr std::size_t kExpected[] = {120, 16, 104, 32, 128, 32, 72,  104, 112, 40,  24, 24, 40, 56,
                                       48,  16, 80,  72, 184, 8,  152, 128, 80,  120, 24, 48, 40};
  ASSERT_EQ(std::size(kExpected), std::size(kLayout));
  for (std::size_t i = 0; i < std::size(kLayout); ++i) EXPECT_EQ(kLayout[i].value, kExpected[i]) << kLayout[i].text;
}

TEST(Abi, HoldsPlainTypesOnly) {
  EXPECT_TRUE((std::is_trivial_v<kymo_note> && std::is_standard_layout_v<kymo_note>));
  EXPECT_TRUE((std::is_trivial_v<kymo_host> && std::is_standard_layout_v<kymo_host>));
  EXPECT_TRUE((std::is_trivial_v<kymo_workload> && std::is_standard_layout_v<kymo_workload>));
  EXPECT_TRUE((std::is_trivial_v<kymo_parameter> && std::is_standard_layout_v<kymo_parameter>));
  EXPECT_TRUE((std::is_trivial_v<kymo_plugin> && std::is_standard_layout_v<kymo_plugin>));
}

}  // namespace
