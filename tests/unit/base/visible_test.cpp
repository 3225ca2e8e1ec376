// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/text.hpp"

namespace kymo {
namespace {

TEST(Visible, KeepsWhatPrints) { EXPECT_EQ(visible("320 µs ± 9 — 日本 🙂 \\ '\""), "320 µs ± 9 — 日本 🙂 \\ '\""); }

TEST(Visible, EscapesWhatSteersATerminalOrReordersText) {
  EXPECT_EQ(visible("a\nb\tc\r\x1b[31m\x7f"), "a\\nb\\tc\\x0d\\x1b[31m\\x7f");
  EXPECT_EQ(visible("\xc2\x9b"
                    "31m\xe2\x80\xae"
                    "evil\xe2\x80\xa8"),
            "\\x9b31m\\u202eevil\\u2028");
}

TEST(Visible, EscapesBytesThatAreNoCharacter) {
  EXPECT_EQ(visible("\xff\xc2"), "\\xff\\xc2");
  EXPECT_EQ(visible("\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80"), "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
}

TEST(Visible, JsonKeepsItsLayoutAndItsMeaning) {
  EXPECT_EQ(visible_json("{\n  \"a\": \"µ\xc2\x9b\x7f\xe2\x80\xae\"\n}"), "{\n  \"a\": \"µ\\u009b\\u007f\\u202e\"\n}");
}

}  // namespace
}  // namespace kymo
