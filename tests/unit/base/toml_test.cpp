// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/json.hpp"

namespace kymo {
namespace {

TEST(Toml, BecomesJsonOfTheSameTypes) {
  const Json json = parse_toml("a = 1\nb = 1.0\nc = true\nd = 'x'\ne = [1, 'y']\n[t]\nf = 2\n", "here");
  EXPECT_TRUE(json.at("a").is_number_integer());
  EXPECT_TRUE(json.at("b").is_number_float());
  EXPECT_EQ(json.at("c"), true);
  EXPECT_EQ(json.at("d"), "x");
  EXPECT_EQ(json.at("e"), Json::array({1, "y"}));
  EXPECT_EQ(json.at("t").at("f"), 2);
}

TEST(Toml, AnErrorIsReportedWithItsLocation) {
  try {
    parse_toml("a = 1\nb = = 2\n", "suite.toml");
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_EQ(std::string(e.what()).rfind("suite.toml:2:", 0), 0u) << e.what();
  }
}

TEST(Json, AnErrorIsReportedWithItsLocation) {
  EXPECT_EQ(parse_json("{\"a\": [1]}", "x").at("a").at(0), 1);
  try {
    parse_json("{\"a\": }", "cache");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()), "cache: not valid JSON at byte 7");
  }
}

TEST(Json, InvalidUtf8IsReplacedWhenWritten) {
  EXPECT_EQ(dump_json(Json{{"a", "\xFF"}}), "{\"a\":\"\xEF\xBF\xBD\"}");
  EXPECT_EQ(dump_json(Json::array({1}), 2), "[\n  1\n]");
}

}  // namespace
}  // namespace kymo
