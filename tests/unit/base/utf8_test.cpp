// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace kymo {
namespace {

TEST(ValidUtf8, ReplacesEachInvalidByte) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(valid_utf8("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(valid_utf8(std::string_view("a\0b", 3)), "a" + bad + "b");
  EXPECT_EQ(valid_utf8("\xFF\xFE"), bad + bad);
  EXPECT_EQ(valid_utf8("\xC0\xAF"), bad + bad) << "overlong";
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), bad + bad + bad) << "surrogate";
  EXPECT_EQ(valid_utf8("x\xE2\x82"), "x" + bad + bad) << "cut in the middle";
  EXPECT_EQ(valid_utf8("\xF5\x80\x80\x80"), bad + bad + bad + bad) << "beyond Unicode";
}

TEST(CodePoint, IsReadAndWritten) {
  for (const char32_t code : {U'a', U'ß', U'€', U'😀'}) {
    std::string text;
    append_utf8(text, code);
    const CodePoint first = first_code_point(text + "x");
    EXPECT_TRUE(first.valid);
    EXPECT_EQ(first.value, code);
    EXPECT_EQ(first.bytes, text.size());
  }
}

TEST(CodePoint, InvalidSequencesAreTakenWhole) {
  std::string_view text = "\xE2\x82x\xED\xA0\x80\xFFy";
  std::u32string taken;
  while (!text.empty()) taken += take_code_point(text);
  EXPECT_EQ(taken, U"\uFFFDx\uFFFD\uFFFDy");
  EXPECT_EQ(code_point_count("a\xE2\x82ü"), 3u);
}

TEST(DisplayWidth, CountsColumnsOfATerminal) {
  EXPECT_EQ(display_width("step ± 2 µs …"), 13u);
  EXPECT_EQ(display_width("層 한 🚀"), 8u);
  EXPECT_EQ(display_width("e\xCC\x81"), 1u) << "a combining accent";
  EXPECT_EQ(display_width("\x1b[31mfailed\x1b[0m"), 6u);
}

TEST(Utf8Prefix, SplitsNoCharacter) {
  EXPECT_EQ(utf8_prefix("aäb", 4), "aäb");
  EXPECT_EQ(utf8_prefix("aäb", 3), "aä");
  EXPECT_EQ(utf8_prefix("aäb", 2), "a");
  EXPECT_EQ(utf8_prefix("ä", 1), "");
}

TEST(OneLine, ReplacesControlCharactersAndInvalidBytes) {
  EXPECT_EQ(one_line("a\r\n\tb\x1b[31m\xFF"), "a b [31m\xEF\xBF\xBD");
  EXPECT_EQ(one_line("\n"), "");
}

TEST(OneLine, IsBoundedWithoutSplittingACharacter) {
  EXPECT_EQ(one_line("aäö", 5), "aäö");
  EXPECT_EQ(one_line("aäö", 4), "aä…");
}

}  // namespace
}  // namespace kymo
