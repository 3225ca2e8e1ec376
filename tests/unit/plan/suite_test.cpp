// SPDX-License-Identifier: Apache-2.0
#include "plan/suite.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <type_traits>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kymo::plan {
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
seed = [4, 5]
ranks = [1, 2]
fresh = true
sync = "phase"
until = 0.02
max_steps = 500
min_time = 1.5
)";

/// The values of a setting of the method.
template <typename Member>
auto values_of(const CaseSpec& spec, Member member) {
  std::set<std::remove_cvref_t<decltype(spec.method.*member)>> values;
  for (const measure::Method& method : methods_of(spec)) values.insert(method.*member);
  return values;
}

Suite parse(const std::string& text, const std::string& profile = "") {
  return parse_suite(text, "sample", "sample.toml", profile);
}

TEST(Suite, TakesTheNumberOfGpusAsThatOfRanks) {
  const std::string begin = "title = 'x'\n[[case]]\nname = 'a'\nworkload = 'w'\n";
  EXPECT_THAT(parse(begin + "ranks = 'gpus'").cases.at(0).ranks, ElementsAre(kOnePerGpu));
  EXPECT_THAT(parse(begin + "ranks = [2, 'gpus']").cases.at(0).ranks, ElementsAre(2, kOnePerGpu));
}

TEST(Suite, OmitsCasesOfOtherProfiles) {
  const std::string text =
      "title = 'x'\n[[case]]\nname = 'a'\nworkload = 'w'\n[[case]]\nname = 'b'\nworkload = 'w'\n"
      "profiles = ['small', 'new']\n[[case]]\nname = 'c'\nworkload = 'w'\n[case.profile.other]\nsteps = 3\n";
  const auto names = [&](const std::string& profile) {
    std::vector<std::string> found;
    for (const CaseSpec& spec : parse(text, profile).cases) found.push_back(spec.name);
    return found;
  };
  EXPECT_THAT(names(""), ElementsAre("a", "c"));
  EXPECT_THAT(names("other"), ElementsAre("a", "c"));
  EXPECT_THAT(names("small"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(parse(text).profiles, ElementsAre("new", "other", "small"));
}

TEST(Suite, ReadsCases) {
  const Suite suite = parse(kSuite);
  EXPECT_EQ(suite.title, "Sample");
  EXPECT_THAT(suite.profiles, ElementsAre("small"));
  const CaseSpec& grid = suite.cases.at(0);
  EXPECT_EQ(grid.suite, "sample");
  EXPECT_EQ(grid.device, DeviceChoice::kCuda);
  EXPECT_THAT(values_of(grid, &measure::Method::warmup), ElementsAre(3));
  EXPECT_EQ(grid.method.steps, 7);
  EXPECT_EQ(grid.repeat, 2);
  EXPECT_THAT(grid.method.passes, ElementsAre(measure::Pass::kTime));
  EXPECT_THAT(grid.set, testing::UnorderedElementsAre(Pair("mode", "train"), Pair("batch", "4"), Pair("rate", "0.5"),
                                                      Pair("causal", "true")));
  ASSERT_EQ(grid.axes.size(), 2u);
  EXPECT_THAT(grid.axes[0].items, ElementsAre("1..8*2"));
  EXPECT_THAT(grid.axes[1].items, ElementsAre("small", "2.7B"));
  const CaseSpec& warm = suite.cases.at(1);
  EXPECT_THAT(values_of(warm, &measure::Method::warmup), ElementsAre(0, 1, 5));
  EXPECT_THAT(values_of(warm, &measure::Method::seed), ElementsAre(4, 5));
  EXPECT_THAT(warm.ranks, ElementsAre(1, 2));
  EXPECT_TRUE(warm.method.fresh);
  EXPECT_EQ(warm.method.sync, measure::Sync::kPhase);
  EXPECT_DOUBLE_EQ(warm.method.until.value().relative_standard_error.value(), 0.02);
  EXPECT_EQ(warm.method.until->max_samples, 500);
  EXPECT_DOUBLE_EQ(warm.method.until->min_seconds, 1.5);
  EXPECT_FALSE(grid.method.until) << "a number of steps replaces the rule";
}

TEST(Suite, StatesHowLongItsRunsMayTake) {
  const std::string text = R"(
max_time = 600
[profile.small]
max_time = 90.5
max_pass_time = 5
[defaults]
max_pass_time = 60
[[case]]
name = "a"
workload = "w"
[case.profile.small]
max_pass_time = 3
[case.profile.large]
steps = 1
[[case]]
name = "b"
workload = "w"
)";
  EXPECT_EQ(parse(text).max_time_s, 600);
  EXPECT_EQ(parse(text, "small").max_time_s, 90.5);
  EXPECT_EQ(parse(text, "large").max_time_s, 600);
  EXPECT_THAT(parse(text).max_time_of_profiles_s, ElementsAre(Pair("small", 90.5)));
  EXPECT_EQ(parse(text).cases.at(0).method.max_pass_time_s, 60);
  EXPECT_EQ(parse(text, "small").cases.at(0).method.max_pass_time_s, 3);
  EXPECT_EQ(parse(text, "small").cases.at(1).method.max_pass_time_s, 5);
  EXPECT_EQ(parse(kSuite).max_time_s, 0);
}

TEST(Suite, ACaseWithoutANumberOfStepsIsMeasuredForTheLeastTime) {
  const measure::Method method = parse("[[case]]\nname = \"a\"\nworkload = \"w\"\n").cases.at(0).method;
  EXPECT_EQ(Json(method.until.value()), Json(measure::StoppingRule{}));
}

TEST(Suite, ProfileReplacesParametersOfEitherKind) {
  const CaseSpec grid = parse(kSuite, "small").cases.at(0);
  EXPECT_EQ(grid.device, DeviceChoice::kAuto);
  EXPECT_EQ(grid.method.steps, 2);
  EXPECT_THAT(values_of(grid, &measure::Method::warmup), ElementsAre(3));
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

TEST_P(BadSuiteTest, IsRejectedWithTheLocation) {
  try {
    parse(GetParam().text);
    FAIL() << "it was taken";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("sample.toml"), HasSubstr(GetParam().message)));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

const std::string kCase = "[[case]]\nname = \"a\"\nworkload = \"w\"\n";
const std::string kPattern = "[[case]]\nname = \"ddp-*\"\nworkload = \"ddp_*\"\n";

INSTANTIATE_TEST_SUITE_P(
    Forms, BadSuiteTest,
    testing::Values(
        BadSuite{"syntax", "title = ", "sample.toml:1"}, BadSuite{"empty", "", "no [[case]]"},
        BadSuite{"top_key", "titel = \"x\"\n" + kCase, "did you mean 'title'"},
        BadSuite{"case_key", kCase + "stepz = 1", "did you mean 'steps'"},
        BadSuite{"default_key", "[defaults]\nset = 1\n" + kCase, "unknown key 'set'"},
        BadSuite{"profile_key", kCase + "[case.profile.small]\nname = \"x\"", "profile 'small': unknown key 'name'"},
        BadSuite{"max_time", "max_time = 0\n" + kCase, "'max_time'"},
        BadSuite{"max_time_key", "[profile.small]\nsteps = 1\n" + kCase, "[profile.small]: unknown key 'steps'"},
        BadSuite{"max_time_profile", "[profile.small]\nmax_pass_time = 0\n" + kCase, "small]: 'max_pass_time'"},
        BadSuite{"max_pass_time", kCase + "max_pass_time = \"long\"", "'max_pass_time'"},
        BadSuite{"profile_type", kCase + "profile = 1", "'profile' must be"},
        BadSuite{"no_name", "[[case]]\nworkload = \"w\"", "'name'"},
        BadSuite{"no_workload", "[[case]]\nname = \"w\"", "'workload'"},
        BadSuite{"twice", kCase + kCase, "case 'a' is defined twice"},
        BadSuite{"pattern_name", "[[case]]\nname = \"a\"\nworkload = \"ddp_*\"", "must contain it once"},
        BadSuite{"two_stars", "[[case]]\nname = \"a*\"\nworkload = \"*_*\"", "must contain it once"},
        BadSuite{"except_alone", kCase + "except = [\"w\"]", "requires a '*'"},
        BadSuite{"except_type", kPattern + "except = \"ddp_flat\"", "list of workloads"},
        BadSuite{"except_other", kPattern + "except = [\"saxpy\"]", "'saxpy' does not match 'ddp_*'"},
        BadSuite{"case_type", "case = [1]", "must be a table"}, BadSuite{"zero_steps", kCase + "steps = 0", "'steps'"},
        BadSuite{"text_steps", kCase + "steps = \"5m\"", "whole number"},
        BadSuite{"suffix", kCase + "steps = \"5m\"", "write 5M (5000000) or 5Mi (5242880)"},
        BadSuite{"warmup", kCase + "warmup = [-1]", "'warmup'"},
        BadSuite{"no_warmup", kCase + "warmup = []", "must not be empty"},
        BadSuite{"seed", kCase + "seed = -1", "'seed'"}, BadSuite{"ranks", kCase + "ranks = [0]", "'ranks'"},
        BadSuite{"device", kCase + "device = \"tpu\"", "auto, cpu, cuda"},
        BadSuite{"until", kCase + "until = 2", "'until'"},
        BadSuite{"both", kCase + "until = 0.1\nsteps = 3", "mutually exclusive"},
        BadSuite{"min_time_and_steps", kCase + "min_time = 1\nsteps = 3", "'min_time' are mutually exclusive"},
        BadSuite{"min_time", kCase + "min_time = -1", "'min_time'"},
        BadSuite{"max_steps", kCase + "max_steps = 0", "'max_steps'"},
        BadSuite{"fresh", kCase + "fresh = 1", "true or false"}, BadSuite{"sync", kCase + "sync = \"never\"", "never"},
        BadSuite{"passes", kCase + "passes = [\"events\"]", "verify, time"},
        BadSuite{"trace_detail", kCase + "trace_detail = \"everything\"", "memsets"},
        BadSuite{"observed_steps", kCase + "observed_steps = 0", "'observed_steps'"},
        BadSuite{"passes_type", kCase + "passes = \"time\"", "list"},
        BadSuite{"set", kCase + "set = 1", "'set' must be a table"},
        BadSuite{"set_value", kCase + "set = { p = [1] }", "'p'"},
        BadSuite{"axis", kCase + "axes = { p = [] }", "axis 'p'"},
        BadSuite{"axis_value", kCase + "axes = { p = [[1]] }", "'p'"},
        BadSuite{"both_kinds", kCase + "set = { p = 1 }\naxes = { p = [1] }", "both 'set' and 'axes'"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(Suite, NumbersHaveTheFormOfTheCommandLine) {
  EXPECT_EQ(parse(kCase + "steps = \"2k\"").cases.at(0).method.steps, 2000);
  EXPECT_EQ(parse(kCase + "max_steps = \"2Ki\"").cases.at(0).method.until->max_samples, 2048);
}

TEST(Suite, UnknownProfileNamesTheNearest) {
  try {
    parse(kSuite, "smal");
    FAIL() << "it was taken";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'small'"));
  }
}

/// "case workload" of each case.
std::vector<std::string> expanded(const std::string& text, const std::vector<std::string>& workloads) {
  std::vector<std::string> lines;
  for (const CaseSpec& spec : expand_patterns(parse(text).cases, [&] { return workloads; }))
    lines.push_back(spec.name + " " + spec.workload);
  return lines;
}

const std::vector<std::string> kWorkloads{"ddp_", "ddp_flat", "ddp_naive", "old_ddp_flat", "saxpy"};

TEST(SuitePattern, BecomesACaseForEachMatchingWorkload) {
  EXPECT_THAT(expanded(kCase + kPattern, kWorkloads),
              ElementsAre("a w", "ddp- ddp_", "ddp-flat ddp_flat", "ddp-naive ddp_naive"));
  EXPECT_THAT(expanded("[[case]]\nname = \"*\"\nworkload = \"*_flat\"", kWorkloads),
              ElementsAre("ddp ddp_flat", "old_ddp old_ddp_flat"));
}

TEST(SuitePattern, KeepsTheParametersAndMethodOfTheCase) {
  const std::vector<CaseSpec> cases =
      parse(kPattern + "set = { n = 1 }\nsteps = 4\n[case.profile.small]\nsteps = 2", "small").cases;
  const std::vector<CaseSpec> expanded = expand_patterns(cases, [] { return kWorkloads; });
  ASSERT_EQ(expanded.size(), 3u);
  for (const CaseSpec& spec : expanded) {
    EXPECT_THAT(spec.set, ElementsAre(Pair("n", "1")));
    EXPECT_EQ(spec.method.steps, 2);
  }
}

TEST(SuitePattern, SkipsExceptedWorkloads) {
  EXPECT_THAT(expanded(kPattern + "except = [\"ddp_\", \"ddp_naive\", \"ddp_absent\"]", kWorkloads),
              ElementsAre("ddp-flat ddp_flat"));
}

TEST(SuitePattern, MustMatchAndMustNotRepeatACase) {
  const auto message = [](const std::string& text, const std::vector<std::string>& workloads) {
    try {
      expanded(text, workloads);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message(kPattern, {"saxpy"}),
              testing::AllOf(HasSubstr("'sample'"), HasSubstr("'ddp-*'"), HasSubstr("no workload matches 'ddp_*'")));
  EXPECT_THAT(message(kPattern + "except = [\"ddp_flat\"]", {"ddp_flat"}), HasSubstr("no workload matches"));
  EXPECT_THAT(message("[[case]]\nname = \"ddp-flat\"\nworkload = \"w\"\n" + kPattern, kWorkloads),
              HasSubstr("'ddp-flat' is defined twice"));
}

TEST(SuitePattern, IsTheOnlyReasonToReadTheCatalog) {
  const auto unused = []() -> std::vector<std::string> { throw Error("the catalog was read"); };
  EXPECT_EQ(expand_patterns(parse(kSuite).cases, unused).size(), 2u);
}

/// The names of the directories in plugins/, which are those of the workloads.
std::vector<std::string> own_workloads() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(KYMO_SOURCE_DIR) + "/plugins")) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(SuitePattern, OfTheAssignmentCoversEveryDataParallelStrategy) {
  const std::string file = std::string(KYMO_SOURCE_DIR) + "/reports/cs336/suite.toml";
  std::set<std::string> covered;
  for (const CaseSpec& spec : expand_patterns(parse_suite(read_file(file), "cs336", file, "").cases, own_workloads))
    covered.insert(spec.workload);
  for (const std::string& workload : own_workloads()) {
    EXPECT_TRUE(!workload.starts_with("ddp_") || covered.contains(workload)) << workload;
  }
}

TEST(Suite, OwnSuitesAreReadable) {
  for (const char* name : {"quick", "cs336", "peaks", "lab", "large-step"}) {
    const std::string file = std::string(KYMO_SOURCE_DIR) + "/reports/" + name + "/suite.toml";
    EXPECT_FALSE(expand_patterns(parse_suite(read_file(file), name, file, "").cases, own_workloads).empty()) << name;
  }
  const std::string file = std::string(KYMO_SOURCE_DIR) + "/reports/cs336/suite.toml";
  for (const CaseSpec& spec : parse_suite(read_file(file), "cs336", file, "small").cases) {
    // Multiple ranks need one device each, so the backend of those cases determines where they run.
    const bool has_choice = spec.ranks == std::vector<std::int64_t>{1};
    EXPECT_TRUE(!has_choice || spec.device == DeviceChoice::kAuto) << spec.name;
  }
}

// `kymo peaks` selects the profile by the kind of the device.
TEST(Suite, PeaksHasAProfileForEachKindOfDevice) {
  const std::string file = std::string(KYMO_SOURCE_DIR) + "/reports/peaks/suite.toml";
  for (const auto& [profile, device] : {std::pair{"cpu", DeviceChoice::kCpu}, {"cuda", DeviceChoice::kCuda}})
    for (const CaseSpec& spec : parse_suite(read_file(file), "peaks", file, profile).cases)
      EXPECT_EQ(spec.device, device) << spec.name;
}

}  // namespace
}  // namespace kymo::plan
