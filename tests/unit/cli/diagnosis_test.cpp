// SPDX-License-Identifier: Apache-2.0
#include "cli/diagnosis.hpp"

#include <gtest/gtest.h>

namespace kymo::cli {
namespace {

TEST(Diagnosis, ReadsWhoMayTrace) {
  EXPECT_TRUE(profiling_is_restricted("EnableMSI: 1\nRmProfilingAdminOnly: 1\n"));
  EXPECT_FALSE(profiling_is_restricted("EnableMSI: 1\nRmProfilingAdminOnly: 0\n"));
  EXPECT_FALSE(profiling_is_restricted(""));
}

}  // namespace
}  // namespace kymo::cli
