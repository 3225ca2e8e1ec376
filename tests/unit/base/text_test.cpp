// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace kymo {
namespace {

using ::testing::ElementsAre;

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Text, JoinUndoesSplit) { EXPECT_EQ(join(split("a,,b,", ','), ","), "a,,b,"); }

TEST(Text, TrimTakesBlanksOffBothEnds) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n "), "");
}

TEST(Text, NearestFindsASlipOfThePen) {
  const std::vector<std::string> names = {"transformer_lm", "attention_naive", "saxpy"};
  EXPECT_EQ(nearest("transfomer_lm", names), "transformer_lm");
  EXPECT_EQ(nearest("saxyp", names), "saxpy");
  EXPECT_EQ(nearest("matmul", names), std::nullopt);
  EXPECT_EQ(nearest(std::string(100'000, 'x'), names), std::nullopt);
}

TEST(Text, SuggestionNamesTheNearestElseAll) {
  EXPECT_EQ(suggestion("sixe", {"size", "batch"}), "; did you mean 'size'?");
  EXPECT_EQ(suggestion("zzzz", {"size", "batch"}), "; known: size, batch");
  EXPECT_EQ(suggestion("zzzz", {}), "");
}

TEST(Text, QuoteKeepsAMessageOnOneLineAndBounded) {
  EXPECT_EQ(quote("a\nb\x1b[31m"), "'a\\nb\\x1b[31m'");
  EXPECT_LT(quote(std::string(10'000, 'x')).size(), 400u);
}

TEST(Text, BytesForPeople) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(80ll << 30), "80.0 GiB");
  EXPECT_EQ(format_bytes(-1536), "-1.50 KiB");
}

TEST(Text, ShortestTextParsesBackToTheSameNumber) {
  EXPECT_EQ(shortest_text(0.1), "0.1");
  EXPECT_EQ(shortest_text(1e300), "1e+300");
  EXPECT_EQ(shortest_text(-3), "-3");
  for (const double number : {1.0 / 3, 5e-324, 1.7976931348623157e308})
    EXPECT_EQ(std::strtod(shortest_text(number).c_str(), nullptr), number);
}

TEST(Text, DurationsForPeople) {
  EXPECT_EQ(format_duration(0), "0.00 ns");
  EXPECT_EQ(format_duration(12.34e6), "12.3 ms");
  EXPECT_EQ(format_duration(999.9e3), "1.00 ms");
  EXPECT_EQ(format_duration(123.4e9), "123 s");
}

}  // namespace
}  // namespace kymo
