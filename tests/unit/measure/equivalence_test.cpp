// SPDX-License-Identifier: Apache-2.0
#include "measure/equivalence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace kymo::measure {
namespace {

using testing::ElementsAre;

RunIdentity sample_run() {
  RunIdentity run;
  run.what.plugin_file = "/p/x.so";
  run.what.plugin_sha256 = "ab";
  run.what.workload = "saxpy";
  run.what.parameters = {{"n", std::int64_t{4}}, {"a", 2.5}, {"on", true}, {"dtype", std::string("fp32")}};
  run.what.ranks = 2;
  run.suite = "quick";
  run.suite_case = "small";
  return run;
}

/// A change of a run, and the equivalences that it does not affect.
struct Change {
  const char* name;
  std::function<void(RunIdentity&)> apply;
  std::set<Equivalence> kept;
};

TEST(Equivalence, EachKeyComparesExactlyItsValues) {
  using enum Equivalence;
  const std::vector<Change> changes{
      {"workload", [](RunIdentity& run) { run.what.workload = "copy"; }, {}},
      {"parameter", [](RunIdentity& run) { run.what.parameters["n"] = std::int64_t{5}; }, {kWorker}},
      {"type of a parameter", [](RunIdentity& run) { run.what.parameters["n"] = 4.0; }, {kWorker}},
      {"ranks", [](RunIdentity& run) { run.what.ranks = 3; }, {}},
      {"device", [](RunIdentity& run) { run.what.device = DeviceKind::kCuda; }, {}},
      {"plugin path", [](RunIdentity& run) { run.what.plugin_file = "/y.so"; }, {kCase, kSettings, kPlan, kJob}},
      {"plugin build", [](RunIdentity& run) { run.what.plugin_sha256 = "cd"; }, {kCase, kSettings, kJob}},
      {"library",
       [](RunIdentity& run) { run.what.plugin_libraries = {{"librest.so", "ab"}}; },
       {kCase, kSettings, kWorker, kJob}},
      {"timing", [](RunIdentity& run) { run.method.timing = Timing::kHot; }, {kWorker}},
      {"synchronization", [](RunIdentity& run) { run.method.sync = Sync::kPhase; }, {kWorker}},
      {"warm-up", [](RunIdentity& run) { run.method.warmup = 0; }, {kCase, kWorker}},
      {"steps", [](RunIdentity& run) { run.method.steps = 3; }, {kCase, kWorker}},
      {"stopping rule", [](RunIdentity& run) { run.method.until = StoppingRule{}; }, {kCase, kWorker}},
      {"passes", [](RunIdentity& run) { run.method.passes = {Pass::kTime}; }, {kCase, kWorker}},
      {"seed", [](RunIdentity& run) { run.method.seed = 1; }, {kCase, kWorker}},
      {"wrapper", [](RunIdentity& run) { run.method.wrap = "nice"; }, {kCase, kSettings}},
      {"fresh process", [](RunIdentity& run) { run.method.fresh = true; }, {kCase, kSettings, kWorker}},
      {"time limit", [](RunIdentity& run) { run.method.timeout_s = 1; }, {kCase, kSettings, kPlan, kWorker}},
      {"pass time limit", [](RunIdentity& run) { run.method.max_pass_time_s = 1; }, {kCase, kSettings, kPlan, kWorker}},
      {"memory limit", [](RunIdentity& run) { run.method.host_memory_bytes = 5; }, {kCase, kSettings, kPlan, kWorker}},
      {"suite", [](RunIdentity& run) { run.suite = "other"; }, {kCase, kPlan, kWorker}},
      {"suite case", [](RunIdentity& run) { run.suite_case = "other"; }, {kCase, kPlan, kWorker}},
      {"repetition", [](RunIdentity& run) { run.repetition = 1; }, {kCase, kSettings, kPlan, kWorker}},
  };
  for (const Change& change : changes) {
    RunIdentity changed = sample_run();
    change.apply(changed);
    for (const Equivalence each : {kCase, kSettings, kPlan, kWorker, kJob}) {
      EXPECT_EQ(equivalence_key(sample_run(), each) == equivalence_key(changed, each), change.kept.contains(each))
          << change.name << ", equivalence " << static_cast<int>(each);
    }
  }
}

TEST(Equivalence, BytesThatAreNoTextStillGiveAKey) {
  RunIdentity run = sample_run();
  run.what.parameters["dtype"] = std::string("fp\xff");
  EXPECT_EQ(equivalence_key(run, Equivalence::kCase).size(), 16u);
}

TEST(Differing, ShowsAnOptionWithItsDashesBesideAParameterOfThatName) {
  EXPECT_THAT(differing({{"w", {{"--ranks", "1"}, {"n", "1"}}}, {"w", {{"--ranks", "2"}, {"n", "1"}}}}),
              ElementsAre("ranks=1", "ranks=2"));
  EXPECT_THAT(differing({{"w", {{"--ranks", "1"}, {"ranks", "7"}}}, {"w", {{"--ranks", "2"}, {"ranks", "7"}}}}),
              ElementsAre("--ranks=1", "--ranks=2"));
  EXPECT_THAT(differing({{"v", {{"n", "1"}}}, {"w", {{"n", "2"}}}}), ElementsAre("", "")) << "other workloads";
}

TEST(Differing, NamesTheSettingsThatVaryPerWorkloadOrAllOfThem) {
  const std::vector<WorkloadSettings> runs{
      {"v", {{"m", "1"}, {"n", "1"}}}, {"v", {{"m", "2"}, {"n", "1"}}}, {"w", {{"n", "2"}}}};
  using Names = std::map<std::string, std::set<std::string>>;
  EXPECT_EQ(differing_names(runs), (Names{{"v", {"m"}}, {"w", {}}}));
  EXPECT_EQ(differing_names(runs, true), (Names{{"v", {"m", "n"}}, {"w", {"n"}}}));
  EXPECT_THAT(differing(runs, true), ElementsAre("m=1 n=1", "m=2 n=1", "n=2"));
}

}  // namespace
}  // namespace kymo::measure
