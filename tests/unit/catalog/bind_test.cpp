// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "fixture.hpp"

namespace kymo::catalog::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Texts = std::vector<std::pair<std::string, std::string>>;

Workload workload() {
  Workload made;
  made.name = "w";
  made.parameters = {
      {"n", ParameterType::kInt, "", "", std::int64_t{8}, 1.0, 64.0, {}, {}},
      {"rate", ParameterType::kReal, "", "", 0.5, 0.0, std::nullopt, {}, {}},
      {"causal", ParameterType::kBool, "", "", true, std::nullopt, std::nullopt, {}, {}},
      {"label", ParameterType::kText, "", "", std::string("x"), std::nullopt, std::nullopt, {}, {}},
      {"dtype", ParameterType::kChoice, "", "", std::string("fp32"), std::nullopt, std::nullopt, {"fp32", "bf16"}, {}},
  };
  return made;
}

measure::Value bound(const std::string& name, const std::string& text) {
  return bind_parameters(workload(), {{name, text}}).at(name);
}

std::string refusal(const std::string& name, const std::string& text) {
  EXPECT_THROW(bound(name, text), UsageError);
  return message_of([&] { bound(name, text); });
}

TEST(Bind, FillsInDefaults) {
  const measure::Parameters all = bind_parameters(workload(), {{"n", "16"}});
  EXPECT_EQ(all.size(), 5u);
  EXPECT_EQ(std::get<std::int64_t>(all.at("n")), 16);
  EXPECT_EQ(std::get<double>(all.at("rate")), 0.5);
  EXPECT_EQ(std::get<std::string>(all.at("dtype")), "fp32");
}

TEST(Bind, TheLastValueOfAParameterCounts) {
  EXPECT_EQ(std::get<std::int64_t>(bind_parameters(workload(), {{"n", "16"}, {"n", "32"}}).at("n")), 32);
}

TEST(Bind, ReadsEachType) {
  EXPECT_EQ(std::get<std::int64_t>(bound("n", "+7")), 7);
  EXPECT_EQ(std::get<double>(bound("rate", "1e-3")), 1e-3);
  EXPECT_EQ(std::get<double>(bound("rate", "2")), 2.0);
  for (const char* yes : {"true", "1", "yes", "on"}) EXPECT_TRUE(std::get<bool>(bound("causal", yes)));
  for (const char* no : {"false", "0", "no", "off"}) EXPECT_FALSE(std::get<bool>(bound("causal", no)));
  EXPECT_EQ(std::get<std::string>(bound("label", "a=b '\"; DROP")), "a=b '\"; DROP");
  EXPECT_EQ(std::get<std::string>(bound("label", "")), "");
  EXPECT_EQ(std::get<std::string>(bound("dtype", "bf16")), "bf16");
}

TEST(Bind, RejectsOtherTypes) {
  for (const char* text : {"", "x", "1.5", "1e-3", "0x10", "12 ", " 12", "12abc", "99999999999999999999", "+", "--1"}) {
    EXPECT_THAT(refusal("n", text), AllOf(HasSubstr("'n'"), HasSubstr("a whole number from 1 to 64"))) << text;
  }
  for (const char* text : {"", "fast", "nan", "inf", "-inf", "1e999", "1,5"}) {
    EXPECT_THAT(refusal("rate", text), HasSubstr("a number of at least 0")) << text;
  }
  EXPECT_THAT(refusal("causal", "maybe"), HasSubstr("true or false"));
}

TEST(Bind, RejectsWhatIsOutOfBounds) {
  EXPECT_THAT(refusal("n", "0"), AllOf(HasSubstr("'0'"), HasSubstr("from 1 to 64")));
  EXPECT_THAT(refusal("n", "65"), HasSubstr("from 1 to 64"));
  EXPECT_THAT(refusal("rate", "-0.1"), HasSubstr("at least 0"));
  EXPECT_EQ(std::get<std::int64_t>(bound("n", "64")), 64) << "bounds are inclusive";
}

TEST(Bind, NamesTheNearestChoiceAndParameter) {
  EXPECT_THAT(refusal("dtype", "bf61"), AllOf(HasSubstr("one of fp32, bf16"), HasSubstr("did you mean 'bf16'")));
  EXPECT_THAT(refusal("dtype", "complex128"), HasSubstr("one of fp32, bf16"));
  EXPECT_THAT(refusal("dtpye", "fp32"), AllOf(HasSubstr("no parameter 'dtpye'"), HasSubstr("did you mean 'dtype'")));
  EXPECT_THAT(refusal("zzzzzzzz", "1"), HasSubstr("known: n, rate"));
  EXPECT_THAT(message_of([] { bind_parameters(Workload{}, {{"n", "1"}}); }), HasSubstr("it has no parameters"));
}

TEST(Bind, QuotesHostileNamesAndValues) {
  EXPECT_THAT(refusal("n", "1\n2"), HasSubstr("'1\\n2'"));
  EXPECT_THAT(refusal("n\x1b[31m", "1"), HasSubstr("\\x1b"));
}

}  // namespace
}  // namespace kymo::catalog::test
