// SPDX-License-Identifier: Apache-2.0
#include "cli/suite.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kymo::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr const char* kSuite = R"(
title = "Sample"
[defaults]
device = "cuda"
warmup = 3
steps = 7
[[case]]
name = "grid"
workload = "w"
set = { mode = "train", batch = 4, rate = 0.5, causal = true }
axes = { n = "1..8*2", size = ["small", "2.7B"] }
repeat = 2
passes = ["time"]
[case.profile.small]
set = { size = "tiny" }
axes = { batch = [1, 2] }
device = "auto"
steps = 2
[[case]]
name = "warm"
workload = "w"
warmup = [0, 1, 5]
ranks = [1, 2]
fresh = true
sync = "phase"
until = 0.02
)";

Suite parse(const std::string& text, const std::string& profile = "") {
  return parse_suite(text, "sample", "sample.toml", profile);
}

TEST(Suite, ReadsCases) {
  const Suite suite = parse(kSuite);
  EXPECT_EQ(suite.title, "Sample");
  EXPECT_THAT(suite.profiles, ElementsAre("small"));
  const CaseSpec& grid = suite.cases.at(0);
  EXPECT_EQ(grid.suite, "sample");
  EXPECT_EQ(grid.device, DeviceChoice::kCuda);
  EXPECT_THAT(grid.warmups, ElementsAre(3));
  EXPECT_EQ(grid.method.steps, 7);
  EXPECT_EQ(grid.repeat, 2);
  EXPECT_THAT(grid.method.passes, ElementsAre(measure::Pass::kTime));
  EXPECT_THAT(grid.set, testing::UnorderedElementsAre(Pair("mode", "train"), Pair("batch", "4"), Pair("rate", "0.5"),
                                                      Pair("causal", "true")));
  ASSERT_EQ(grid.axes.size(), 2u);
  EXPECT_THAT(grid.axes[0].items, ElementsAre("1..8*2"));
  EXPECT_THAT(grid.axes[1].items, ElementsAre("small", "2.7B"));
  const CaseSpec& warm = suite.cases.at(1);
  EXPECT_THAT(warm.warmups, ElementsAre(0, 1, 5));
  EXPECT_THAT(warm.ranks, ElementsAre(1, 2));
  EXPECT_TRUE(warm.method.fresh);
  EXPECT_EQ(warm.method.sync, measure::Sync::kPhase);
  EXPECT_DOUBLE_EQ(warm.method.until.value().relative_standard_error, 0.02);
}

TEST(Suite, ProfileReplacesParametersOfEitherKind) {
  const CaseSpec grid = parse(kSuite, "small").cases.at(0);
  EXPECT_EQ(grid.device, DeviceChoice::kAuto);
  EXPECT_EQ(grid.method.steps, 2);
  EXPECT_THAT(grid.warmups, ElementsAre(3));
  EXPECT_THAT(grid.set, testing::Contains(Pair("size", "tiny")));
  EXPECT_THAT(grid.set, testing::Not(testing::Contains(Pair("batch", "4"))));
  ASSERT_EQ(grid.axes.size(), 2u);
  EXPECT_EQ(grid.axes[0].parameter, "n");
  EXPECT_THAT(grid.axes[1].items, ElementsAre("1", "2"));
}

struct BadSuite {
  const char* name;
  std::string text;
  const char* message;
};

class BadSuiteTest : public testing::TestWithParam<BadSuite> {};

TEST_P(BadSuiteTest, IsRefusedWithThePlace) {
  try {
    parse(GetParam().text);
    FAIL() << "it was taken";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("sample.toml"), HasSubstr(GetParam().message)));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

const std::string kCase = "[[case]]\nname = \"a\"\nworkload = \"w\"\n";

INSTANTIATE_TEST_SUITE_P(
    Forms, BadSuiteTest,
    testing::Values(
        BadSuite{"syntax", "title = ", "sample.toml:1"}, BadSuite{"empty", "", "no [[case]]"},
        BadSuite{"top_key", "titel = \"x\"\n" + kCase, "did you mean 'title'"},
        BadSuite{"case_key", kCase + "stepz = 1", "did you mean 'steps'"},
        BadSuite{"default_key", "[defaults]\nset = 1\n" + kCase, "unknown key 'set'"},
        BadSuite{"profile_key", kCase + "[case.profile.small]\nname = \"x\"", "profile 'small': unknown key 'name'"},
        BadSuite{"profile_type", kCase + "profile = 1", "'profile' must be"},
        BadSuite{"no_name", "[[case]]\nworkload = \"w\"", "'name'"},
        BadSuite{"no_workload", "[[case]]\nname = \"w\"", "'workload'"},
        BadSuite{"twice", kCase + kCase, "case 'a' is defined twice"},
        BadSuite{"case_type", "case = [1]", "must be a table"}, BadSuite{"zero_steps", kCase + "steps = 0", "'steps'"},
        BadSuite{"text_steps", kCase + "steps = \"5\"", "whole number"},
        BadSuite{"warmup", kCase + "warmup = [-1]", "'warmup'"},
        BadSuite{"no_warmup", kCase + "warmup = []", "must not be empty"},
        BadSuite{"ranks", kCase + "ranks = [0]", "'ranks'"},
        BadSuite{"device", kCase + "device = \"tpu\"", "auto, cpu or cuda"},
        BadSuite{"until", kCase + "until = 2", "'until'"},
        BadSuite{"both", kCase + "until = 0.1\nsteps = 3", "mutually exclusive"},
        BadSuite{"fresh", kCase + "fresh = 1", "true or false"}, BadSuite{"sync", kCase + "sync = \"never\"", "never"},
        BadSuite{"passes", kCase + "passes = [\"counters\"]", "verify, time"},
        BadSuite{"trace_detail", kCase + "trace_detail = \"everything\"", "memsets"},
        BadSuite{"observed_steps", kCase + "observed_steps = 0", "'observed_steps'"},
        BadSuite{"passes_type", kCase + "passes = \"time\"", "list"},
        BadSuite{"set", kCase + "set = 1", "'set' must be a table"},
        BadSuite{"set_value", kCase + "set = { p = [1] }", "'p'"},
        BadSuite{"axis", kCase + "axes = { p = [] }", "axis 'p'"},
        BadSuite{"axis_value", kCase + "axes = { p = [[1]] }", "'p'"},
        BadSuite{"both_kinds", kCase + "set = { p = 1 }\naxes = { p = [1] }", "both 'set' and 'axes'"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(Suite, UnknownProfileNamesTheNearest) {
  try {
    parse(kSuite, "smal");
    FAIL() << "it was taken";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'small'"));
  }
}

TEST(Suite, OwnSuitesAreReadable) {
  for (const char* name : {"quick", "cs336"}) {
    const std::string file = std::string(KYMO_SOURCE_DIR) + "/reports/" + name + "/suite.toml";
    EXPECT_FALSE(parse_suite(read_file(file), name, file, "").cases.empty()) << name;
  }
  const std::string file = std::string(KYMO_SOURCE_DIR) + "/reports/cs336/suite.toml";
  for (const CaseSpec& spec : parse_suite(read_file(file), "cs336", file, "small").cases) {
    // Multiple ranks need one device each, so the backend of those cases determines where they run.
    const bool has_choice = spec.ranks == std::vector<std::int64_t>{1};
    EXPECT_TRUE(!has_choice || spec.device == DeviceChoice::kAuto) << spec.name;
  }
}

}  // namespace
}  // namespace kymo::cli
