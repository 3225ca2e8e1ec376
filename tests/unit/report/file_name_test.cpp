// SPDX-License-Identifier: Apache-2.0
#include "report/file_name.hpp"

#include <gtest/gtest.h>

namespace kymo::report {
namespace {

TEST(FileName, IsOfTheFolderOrANeighboringOne) {
  for (const char* good : {"a.sql", "Step_times-2.sql", "../cs336/a.sql"})
    EXPECT_TRUE(is_report_file(good, "sql")) << good;
  for (const char* bad : {"", ".sql", "a", "asql", "a.toml", "a.sql.sql", "a b.sql", "/a.sql", "b/a.sql", "../a.sql",
                          "../../a.sql", "..//a.sql", "../b/", "../b/c/a.sql", "../b/../a.sql", "a.sql\n", "ä.sql"})
    EXPECT_FALSE(is_report_file(bad, "sql")) << bad;
}

TEST(FileName, NamesConsistOfLettersDigitsDashesAndUnderscores) {
  EXPECT_TRUE(is_name("Step_times-2"));
  for (const char* bad : {"", "a.b", "a b", "a/b", "é"}) EXPECT_FALSE(is_name(bad)) << bad;
}

}  // namespace
}  // namespace kymo::report
