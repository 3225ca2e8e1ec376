// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <map>

#include "base/error.hpp"
#include "plan/expand.hpp"

namespace kymo::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PlannedCase planned(const std::string& name, std::int64_t repeat = 1) {
  PlannedCase result;
  result.run.suite_case = name;
  result.run.what.workload = "w";
  result.run.what.parameters["p"] = name;
  result.repeat = repeat;
  return result;
}

std::vector<std::string> names(const std::vector<PlannedCase>& cases) {
  std::vector<std::string> result;
  for (const auto& each : cases) result.push_back(each.run.suite_case);
  return result;
}

std::vector<std::string> names(const std::vector<supervisor::PlannedRun>& runs) {
  std::vector<std::string> result;
  for (const auto& run : runs) result.push_back(run.suite_case + std::to_string(run.repetition));
  return result;
}

TEST(Selection, FiltersByRegularExpression) {
  const std::vector cases{planned("timing"), planned("timing-warmup"), planned("memory")};
  EXPECT_THAT(names(matching(cases, "timing")), ElementsAre("timing", "timing-warmup"));
  EXPECT_THAT(names(matching(cases, "^timing w p=")), ElementsAre("timing"));
  EXPECT_THROW(matching(cases, "nothing"), UsageError);
  EXPECT_THROW(matching(cases, "("), UsageError);
}

TEST(Selection, FilterNeitherCrashesNorRunsOn) {
  const std::vector cases{planned(std::string(1'000'000, 'a'))};
  EXPECT_THAT(matching(cases, "p=a+$"), testing::SizeIs(1));
  EXPECT_THROW(matching(cases, "p=(.|x)*"), UsageError);
  EXPECT_THROW(matching(cases, "p=(a*)*bb"), UsageError);
  EXPECT_THROW(matching(cases, std::string(9'000, '(')), UsageError);
  EXPECT_THROW(matching(cases, std::string(1'000'000, 'x')), UsageError);
  EXPECT_THROW(matching(cases, "(((a{900}){900}){900})"), UsageError);
}

TEST(Selection, ShardsHoldEverythingOnce) {
  const std::vector cases{planned("a"), planned("b"), planned("c"), planned("d"), planned("e")};
  EXPECT_THAT(names(shard_of(cases, {1, 2})), ElementsAre("a", "c", "e"));
  EXPECT_THAT(names(shard_of(cases, {2, 2})), ElementsAre("b", "d"));
  EXPECT_THAT(names(shard_of(cases, {7, 7})), IsEmpty());
}

TEST(Selection, InterleavesRepetitions) {
  EXPECT_THAT(names(repeated({planned("a", 3), planned("b"), planned("c", 2)})),
              ElementsAre("a0", "b0", "c0", "a1", "c1", "a2"));
}

TEST(Selection, ResumeLeavesOutAsManyAsAreThere) {
  const auto runs = repeated({planned("a", 3), planned("b", 2), planned("c")});
  std::map<std::string, int> there;
  const auto key = [&](std::size_t index) {
    return measure::equivalence_key(runs[index], measure::Equivalence::kPlan);
  };
  there[key(0)] = 2;
  there[key(2)] = 5;
  int asked = 0;
  const auto left = unfinished(runs, [&](const std::string& plan_key) { return ++asked, there[plan_key]; });
  EXPECT_THAT(names(left), ElementsAre("b0", "b1", "a2"));
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace kymo::plan
