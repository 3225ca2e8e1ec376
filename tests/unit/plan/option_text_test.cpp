// SPDX-License-Identifier: Apache-2.0
#include "plan/option_text.hpp"

#include <gmock/gmock.h>

#include <functional>

#include "base/error.hpp"

namespace kymo::plan {
namespace {

using testing::Pair;

TEST(OptionText, WholeNumbers) {
  EXPECT_EQ(whole_number("--steps", "10", 1, 100), 10);
  EXPECT_EQ(whole_number("--steps", "2^4", 1, 100), 16);
  EXPECT_EQ(whole_number("--steps", "0.05k", 1, 100), 50);
  for (const char* text : {"", "0", "101", "ten", "1.5", "1 ", "99999999999999999999", "1k", "0x1"}) {
    EXPECT_THROW(whole_number("--steps", text, 1, 100), UsageError) << text;
  }
}

TEST(OptionText, RealNumbers) {
  EXPECT_EQ(real_number("--timeout", "2.5", 0, 10), 2.5);
  for (const char* text : {"", "nan", "inf", "11", "-1", "1s"})
    EXPECT_THROW(real_number("--timeout", text, 0, 10), UsageError) << text;
}

TEST(OptionText, RelativeErrors) {
  EXPECT_DOUBLE_EQ(relative_error("--until", "0.01"), 0.01);
  EXPECT_DOUBLE_EQ(relative_error("--until", "5%"), 0.05);
  for (const char* text : {"", "%", "0", "1", "100%", "-1%", "x", "1%%"})
    EXPECT_THROW(relative_error("--until", text), UsageError) << text;
}

TEST(OptionText, Sizes) {
  EXPECT_EQ(size_bytes("--host-memory", "4096"), 4096);
  EXPECT_EQ(size_bytes("--host-memory", "8G"), 8'000'000'000);
  EXPECT_EQ(size_bytes("--host-memory", "8Gi"), std::int64_t{8} << 30);
  for (const char* text : {"", "0", "G", "8X", "8GiBs"})
    EXPECT_THROW(size_bytes("--host-memory", text), UsageError) << text;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(OptionText, ErrorsShowTheRightSuffix) {
  EXPECT_EQ(error_of([] { size_bytes("--trace-memory", "4m"); }),
            "--trace-memory takes a size in bytes, such as 4096, 8G (8 × 1000³) or 512Mi (512 × 1024²), not '4m'; "
            "write 4M (4000000) or 4Mi (4194304)");
  EXPECT_EQ(error_of([] { whole_number("--steps", "4KB", 1, 100'000); }),
            "--steps takes a whole number from 1 to 100000, not '4KB'; write 4k (4000) or 4Ki (4096)");
}

TEST(OptionText, Shards) {
  EXPECT_EQ(shard_from("2/8").index, 2);
  EXPECT_EQ(shard_from("2/8").count, 8);
  for (const char* text : {"", "1", "0/2", "3/2", "1/0", "a/b", "1/2/3", "-1/2", "/2", "1/"})
    EXPECT_THROW(shard_from(text), UsageError) << text;
}

TEST(OptionText, SplitsAtTheFirstEqualsSign) {
  EXPECT_THAT(name_and_value("--set", "p=a=b"), Pair("p", "a=b"));
  EXPECT_THAT(name_and_value("--set", "p="), Pair("p", ""));
  EXPECT_THROW(name_and_value("--set", "p"), UsageError);
  EXPECT_THROW(name_and_value("--set", "=v"), UsageError);
}

TEST(OptionText, QuotesForAShellOnlyWhatNeedsIt) {
  EXPECT_EQ(shell_word("--set"), "--set");
  EXPECT_EQ(shell_word("n=1..8*2"), "'n=1..8*2'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace kymo::plan
