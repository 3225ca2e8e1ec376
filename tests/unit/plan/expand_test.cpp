// SPDX-License-Identifier: Apache-2.0
#include "plan/expand.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "unit/plan/sample_workload.hpp"

namespace kymo::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Expand : public testing::Test {
 protected:
  std::vector<PlannedCase> cases(MissingDevice missing = MissingDevice::kUsageError) {
    return expand(spec_, plugin_, plugin_.workloads.front(), [this] { return ++asked_, gpus_; }, missing);
  }
  std::vector<std::string> titles() {
    std::vector<std::string> result;
    for (const auto& planned : cases()) result.push_back(full_title(planned.run));
    return result;
  }
  std::string failure_reason() {
    try {
      cases();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  void vary(const std::string& setting, const std::vector<std::string>& values) {
    for (const std::string& value : values)
      spec_.method_axes[setting].push_back(measure::setting(setting).type.parse(setting, value));
  }

  catalog::Plugin plugin_ = sample_plugin();
  CaseSpec spec_ = [] {
    CaseSpec spec;
    spec.workload = "sample";
    spec.device = DeviceChoice::kCpu;
    return spec;
  }();
  Gpus gpus_{0, "no driver"};
  int asked_ = 0;
};

TEST_F(Expand, FillsInDefaultsAndIdentity) {
  spec_.set = {{"n", "3"}};
  const auto run = cases().at(0).run;
  EXPECT_EQ(std::get<std::int64_t>(run.what.parameters.at("n")), 3);
  EXPECT_EQ(std::get<std::string>(run.what.parameters.at("dtype")), "fp32");
  EXPECT_EQ(run.what.plugin_file, "/plugins/sample.so");
  EXPECT_EQ(run.what.plugin_sha256, "abc");
  EXPECT_EQ(run.plugin.name, "sample");
}

TEST_F(Expand, TakesTitlesFromTheDescription) {
  catalog::Workload& workload = plugin_.workloads.front();
  workload.title = "Sample";
  workload.family = "samples";
  workload.family_order = 2;
  workload.parameters[0].title = "{} rows";
  workload.parameters[0].titled_at_default = true;
  workload.parameters[2].title = "causal";
  workload.parameters[4].title = "{}";
  workload.parameters[4].is_setting = true;
  spec_.axes = {axis_from("dtype=fp32,bf16")};
  const auto planned = cases();
  const store::RunTitle& at_default = planned.at(0).run.title;
  EXPECT_EQ(at_default.workload, "Sample");
  EXPECT_EQ(at_default.family, "samples");
  EXPECT_EQ(at_default.family_order, 2);
  EXPECT_EQ(at_default.parameters.at("n").title, "{} rows");
  EXPECT_EQ(at_default.parameters.at("n").choice, std::nullopt);
  EXPECT_EQ(at_default.parameters.at("causal").title, "") << "titles omit it at its default";
  EXPECT_EQ(at_default.parameters.at("dtype").title, "");
  EXPECT_TRUE(at_default.parameters.at("dtype").is_setting);
  EXPECT_EQ(at_default.parameters.at("dtype").position, 4);
  EXPECT_EQ(at_default.parameters.at("dtype").choice, 0);
  const auto& changed = planned.at(1).run.title.parameters.at("dtype");
  EXPECT_EQ(changed.title, "{}");
  EXPECT_EQ(changed.choice, 1);
}

TEST_F(Expand, VariesTheLastAxisFastest) {
  spec_.name = "grid";
  spec_.axes = {axis_from("dtype=fp32,bf16"), axis_from("n=1,2")};
  EXPECT_THAT(titles(), ElementsAre("grid sample causal=false dtype=fp32 n=1 note=plain rate=0.5",
                                    "grid sample causal=false dtype=fp32 n=2 note=plain rate=0.5",
                                    "grid sample causal=false dtype=bf16 n=1 note=plain rate=0.5",
                                    "grid sample causal=false dtype=bf16 n=2 note=plain rate=0.5"));
}

TEST_F(Expand, CombinesRanksAndWarmups) {
  spec_.ranks = {1, 2};
  vary("warmup", {"0", "5"});
  std::vector<std::pair<int, std::int64_t>> found;
  for (const auto& planned : cases()) found.emplace_back(planned.run.what.ranks, planned.run.method.warmup);
  EXPECT_THAT(found, ElementsAre(testing::Pair(1, 0), testing::Pair(1, 5), testing::Pair(2, 0), testing::Pair(2, 5)));
}

TEST_F(Expand, CombinesWarmupsAndSeeds) {
  vary("warmup", {"0", "5"});
  vary("seed", {"3", "4"});
  std::vector<std::pair<std::int64_t, std::uint64_t>> found;
  for (const auto& planned : cases()) found.emplace_back(planned.run.method.warmup, planned.run.method.seed);
  EXPECT_THAT(found, ElementsAre(testing::Pair(0, 3), testing::Pair(0, 4), testing::Pair(5, 3), testing::Pair(5, 4)));
}

TEST_F(Expand, RejectsWhatTheWorkloadDoesNotAdmit) {
  spec_.set = {{"nn", "1"}};
  EXPECT_THAT(failure_reason(), HasSubstr("did you mean 'n'"));
  spec_.set = {{"n", "1"}};
  spec_.axes = {axis_from("n=1,2")};
  EXPECT_THAT(failure_reason(), HasSubstr("given twice"));
  spec_.axes.clear();
  spec_.ranks = {5};
  EXPECT_THAT(failure_reason(), HasSubstr("1 to 4 ranks, not 5"));
}

TEST_F(Expand, RejectsMoreCasesThanAnyoneMeans) {
  spec_.axes = {axis_from("n=1..1000+1"), axis_from("rate=1..101+1")};
  EXPECT_THAT(failure_reason(), HasSubstr("more than 100000 cases"));
}

TEST_F(Expand, AutoTakesTheGpuOnlyIfThereIsOnePerRank) {
  spec_.device = DeviceChoice::kAuto;
  EXPECT_EQ(cases()[0].run.what.device, measure::DeviceKind::kCpu);
  gpus_ = {1, ""};
  EXPECT_EQ(cases()[0].run.what.device, measure::DeviceKind::kCuda);
  spec_.ranks = {2};
  EXPECT_EQ(cases()[0].run.what.device, measure::DeviceKind::kCpu);
  gpus_ = {2, ""};
  EXPECT_EQ(cases()[0].run.what.device, measure::DeviceKind::kCuda);
}

TEST_F(Expand, StartsOneRankPerGpu) {
  spec_.device = DeviceChoice::kAuto;
  spec_.ranks = {kOnePerGpu};
  const auto ranks = [&] { return cases()[0].run.what.ranks; };
  EXPECT_EQ(ranks(), 1);
  gpus_ = {3, ""};
  EXPECT_EQ(ranks(), 3);
  EXPECT_EQ(cases()[0].run.what.device, measure::DeviceKind::kCuda);
  gpus_ = {8, ""};
  EXPECT_EQ(ranks(), 4) << "the workload has at most four";
  spec_.device = DeviceChoice::kCpu;
  EXPECT_EQ(ranks(), 1);
  plugin_.workloads[0].min_ranks = 2;
  EXPECT_EQ(ranks(), 2);
  spec_.device = DeviceChoice::kAuto;
  gpus_ = {1, ""};
  EXPECT_EQ(ranks(), 2);
  EXPECT_EQ(cases()[0].run.what.device, measure::DeviceKind::kCpu);
}

TEST_F(Expand, DoesNotLookForGpusWithoutNeed) {
  cases();
  spec_.device = DeviceChoice::kAuto;
  plugin_.workloads[0].runs_on_cuda = false;
  cases();
  EXPECT_EQ(asked_, 0);
}

TEST_F(Expand, MissingGpuIsAUsageErrorOrASkippedRun) {
  spec_.device = DeviceChoice::kCuda;
  EXPECT_THAT(failure_reason(), HasSubstr("no GPU available: no driver"));
  EXPECT_THAT(cases(MissingDevice::kSkippedRun)[0].run.skip_reason, HasSubstr("no driver"));
  gpus_ = {1, ""};
  EXPECT_EQ(cases()[0].run.skip_reason, "");
  spec_.ranks = {2};
  EXPECT_THAT(failure_reason(), HasSubstr("2 ranks need one GPU each; GPUs available: 1"));
  spec_.ranks = {1};
  plugin_.workloads[0].runs_on_cuda = false;
  EXPECT_THAT(failure_reason(), HasSubstr("does not run on device cuda"));
}

}  // namespace
}  // namespace kymo::plan
