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

TEST(Text, ParsesNumbersAsUsersWriteThem) {
  EXPECT_EQ(parse_integer("4k"), 4000);
  EXPECT_EQ(parse_integer("4K"), 4000);
  EXPECT_EQ(parse_integer("1M"), 1'000'000);
  EXPECT_EQ(parse_integer("64Ki"), 65536);
  EXPECT_EQ(parse_integer("2Gi"), std::int64_t{2} << 30);
  EXPECT_EQ(parse_integer("2^20"), 1 << 20);
  EXPECT_EQ(parse_integer("4 Mi"), 4 << 20);
  EXPECT_EQ(parse_integer("1e2"), 100);
  EXPECT_EQ(parse_integer("1.5k"), 1500);
  EXPECT_EQ(parse_integer("-3"), -3);
  EXPECT_EQ(parse_integer("+7"), 7);
  EXPECT_EQ(parse_integer("9223372036854775807"), 9223372036854775807);
  for (const char* text :
       {"",           "k",    "i",    "Ki", "1.5", "1e-2", "4kB", "4  k", "4 ",  " k",
        "4m",         "2^64", "2^-1", "^2", "2^",  "1e30", "nan", "4ki2", "++1", "9223372036854775808",
        "9300000000G"})
    EXPECT_FALSE(parse_integer(text)) << text;
  EXPECT_EQ(parse_real("0.25"), 0.25);
  EXPECT_EQ(parse_real("1e-3"), 1e-3);
  EXPECT_EQ(parse_real("2.5M"), 2.5e6);
  EXPECT_EQ(parse_real("2^-1"), 0.5);
  for (const char* text : {"", "k", "one", "1..2", "1,5"}) EXPECT_FALSE(parse_real(text)) << text;
}

TEST(Text, SizesHaveTheSameGrammarAsNumbers) {
  for (const char* text : {"4M", "4Mi", "512k", "512K", "1.5Gi", "2T", "2^20", "1e6", "4096"}) {
    EXPECT_EQ(parse_bytes(text), parse_integer(text)) << text;
    EXPECT_EQ(parse_bytes(std::string(text) + "B"), parse_integer(text)) << text;
  }
  EXPECT_EQ(parse_bytes("4M"), 4'000'000);
  EXPECT_EQ(parse_bytes("4MiB"), 4'194'304);
  EXPECT_EQ(parse_bytes("4 GiB"), std::int64_t{4} << 30);
  EXPECT_EQ(parse_bytes("4096 B"), 4096);
  EXPECT_EQ(parse_bytes("0.3Gi"), 322'122'547);
  for (const char* text :
       {"", "B", "0", "0.5", "G", "8X", "8GiBs", "-1G", "4m", "4mb", "4KBB", "2e9G", "99999999T", "nan"})
    EXPECT_FALSE(parse_bytes(text)) << text;
}

TEST(Text, HintsAtTheRightSuffix) {
  EXPECT_EQ(number_hint("4m"), "; write 4M (4000000) or 4Mi (4194304)");
  EXPECT_EQ(number_hint("4MB"), "; write 4M (4000000) or 4Mi (4194304)");
  EXPECT_EQ(number_hint("1.5 gib"), "; write 1.5G (1500000000) or 1.5Gi (1610612736)");
  EXPECT_EQ(number_hint("64KB"), "; write 64k (64000) or 64Ki (65536)");
  for (const char* text : {"", "m", "4", "4x", "4ms", "1..2m", "-4m", "4M", "4 Mi"})
    EXPECT_EQ(number_hint(text), "") << text;
}

}  // namespace
}  // namespace kymo
