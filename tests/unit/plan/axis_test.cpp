// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "plan/case_spec.hpp"
#include "unit/plan/sample_workload.hpp"

namespace kymo::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> values(const std::string& text) {
  static const catalog::Plugin plugin = sample_plugin();
  return axis_values(axis_from(text), plugin.workloads.front());
}

TEST(Axis, ListsValues) {
  EXPECT_THAT(values("n=1,2, 5"), ElementsAre("1", "2", "5"));
  EXPECT_THAT(values("dtype=bf16,fp32"), ElementsAre("bf16", "fp32"));
  EXPECT_THAT(values("causal=true,false"), ElementsAre("true", "false"));
}

TEST(Axis, SpellsOutRangesOfWholeNumbers) {
  EXPECT_THAT(values("n=1..8*2"), ElementsAre("1", "2", "4", "8"));
  EXPECT_THAT(values("n=1..10*3"), ElementsAre("1", "3", "9"));
  EXPECT_THAT(values("n=128..512+128"), ElementsAre("128", "256", "384", "512"));
  EXPECT_THAT(values("n=7..7+1"), ElementsAre("7"));
  EXPECT_THAT(values("n=1,4..16*4,100"), ElementsAre("1", "4", "16", "100"));
}

TEST(Axis, SpellsOutRangesOfRealNumbers) {
  EXPECT_THAT(values("rate=0.1..0.3+0.1"), ElementsAre("0.1", "0.2", "0.3"));
  EXPECT_THAT(values("rate=0.001..1*10"), ElementsAre("0.001", "0.01", "0.1", "1"));
  EXPECT_THAT(values("rate=1e-3..3e-3+1e-3"), ElementsAre("0.001", "0.002", "0.003"));
  EXPECT_THAT(values("rate=-1..1+1"), ElementsAre("-1", "0", "1"));
}

TEST(Axis, LeavesTextsThatLookLikeRangesAlone) { EXPECT_THAT(values("note=a..b*2"), ElementsAre("a..b*2")); }

TEST(Axis, TakesTheWorkloadsOwnValuesOrAllChoices) {
  EXPECT_THAT(values("n"), ElementsAre("16", "32"));
  EXPECT_THAT(values("dtype"), ElementsAre("fp32", "bf16"));
  EXPECT_THAT(values("causal"), ElementsAre("false", "true"));
}

TEST(Axis, UnderstandsSuffixesAndPowers) {
  EXPECT_THAT(values("n=1k..4k*2,2^10"), ElementsAre("1000", "2000", "4000", "2^10"));
  EXPECT_THAT(values("n=1Ki..2Ki*2"), ElementsAre("1024", "2048"));
  EXPECT_THROW(values("n=1000,1k"), UsageError) << "the same value twice";
}

TEST(Axis, OfRanksIsNoParameter) {
  std::vector<Axis> axes{axis_from("n=1"), axis_from("ranks=1,2..8*2")};
  EXPECT_THAT(take_rank_axis(axes), ElementsAre(1, 2, 4, 8));
  ASSERT_EQ(axes.size(), 1u);
  EXPECT_TRUE(take_rank_axis(axes).empty());
  for (const char* text : {"ranks", "ranks=0", "ranks=two", "ranks=2,2", "ranks=100000"}) {
    std::vector<Axis> wrong{axis_from(text)};
    EXPECT_THROW(take_rank_axis(wrong), UsageError) << text;
  }
}

struct BadAxis {
  const char* text;
  const char* message;
};

class BadAxisTest : public testing::TestWithParam<BadAxis> {};

TEST_P(BadAxisTest, IsRejectedInOneLine) {
  try {
    values(GetParam().text);
    FAIL() << GetParam().text << " was taken";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, BadAxisTest,
    testing::Values(BadAxis{"=1,2", "--axis takes"}, BadAxis{"n=1,,2", "empty value"}, BadAxis{"n=", "empty value"},
                    BadAxis{"m=1,2", "no parameter 'm'"}, BadAxis{"rate", "has no default values"},
                    BadAxis{"n=1..8", "is not a range"}, BadAxis{"n=1..8-2", "is not a range"},
                    BadAxis{"n=8..1*2", "upper bound below its lower bound"},
                    BadAxis{"n=1..8*1", "factor of at least 2"}, BadAxis{"n=0..8*2", "lower bound of at least 1"},
                    BadAxis{"n=1..8+0", "step of at least 1"}, BadAxis{"n=1..8+x", "whole number"},
                    BadAxis{"n=a..8+1", "whole number"}, BadAxis{"n=1..9223372036854775807+1", "more than"},
                    BadAxis{"n=1..99999999999999999999*2", "whole number"}, BadAxis{"rate=0..1+1e-9", "more than"},
                    BadAxis{"rate=0..1*2", "above 0"}, BadAxis{"rate=0..inf+1", "finite"}, BadAxis{"n=0,1", "'n'"},
                    BadAxis{"n=1..4194304*2", "'n'"}, BadAxis{"dtype=fp32,fp16", "'dtype'"},
                    BadAxis{"n=1,01", "is given twice"}, BadAxis{"n=4,1..4*2", "is given twice"}));

TEST(Axis, StopsBeforeANumberThatIsTooLarge) {
  catalog::Plugin plugin = sample_plugin();
  plugin.workloads[0].parameters[0].maximum.reset();
  EXPECT_THAT(axis_values(axis_from("n=4611686018427387904..9223372036854775807*2"), plugin.workloads[0]),
              ElementsAre("4611686018427387904"));
}

}  // namespace
}  // namespace kymo::plan
