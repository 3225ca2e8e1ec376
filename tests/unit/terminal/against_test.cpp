// SPDX-License-Identifier: Apache-2.0
#include "terminal/against.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "plan/peer.hpp"
#include "report/renderer.hpp"
#include "terminal/print.hpp"
#include "terminal/step_times.hpp"
#include "terminal/verdict.hpp"
#include "unit/plan/sample_workload.hpp"

namespace kymo::terminal {
using namespace plan;
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TextTable against_table(const Json& rows) {
  return report::text_table(std::get<report::Table>(against_document(rows).sections.at(0).blocks.at(0)));
}

/// A workload that shares `n` and `dtype` with the sample and has one more parameter.
catalog::Plugin other_plugin() {
  catalog::Plugin plugin = sample_plugin();
  plugin.file.sha256 = "def";
  catalog::Workload& workload = plugin.workloads.front();
  workload.name = "other";
  std::erase_if(workload.parameters,
                [](const catalog::Parameter& parameter) { return parameter.name != "n" && parameter.name != "dtype"; });
  catalog::Parameter tile;
  tile.name = "tile";
  tile.type = catalog::ParameterType::kInt;
  tile.default_value = std::int64_t{32};
  workload.parameters.push_back(tile);
  return plugin;
}

class Against : public testing::Test {
 protected:
  std::vector<PlannedCase> cases(const catalog::Plugin& plugin) {
    return expand(spec_, plugin, plugin.workloads.front(), gpus, MissingDevice::kUsageError);
  }
  InterleavedCases interleaved(const std::string& text) {
    return with_peer(cases(plugin_), peer_from(text), {&other_, &other_.workloads.front()}, gpus,
                     MissingDevice::kUsageError);
  }
  static std::vector<std::string> titles(const InterleavedCases& interleaved) {
    std::vector<std::string> titles;
    for (const supervisor::PlannedRun& run : repeated(interleaved.cases)) titles.push_back(full_title(run));
    return titles;
  }
  static Gpus gpus() { return {0, "no driver"}; }

  catalog::Plugin plugin_ = sample_plugin();
  catalog::Plugin other_ = other_plugin();
  CaseSpec spec_ = [] {
    CaseSpec spec;
    spec.workload = "sample";
    spec.device = DeviceChoice::kCpu;
    spec.method.steps = 7;
    return spec;
  }();
};

TEST(PeerText, NamesAWorkloadAndItsOwnParameters) {
  EXPECT_EQ(peer_from("other").workload, "other");
  EXPECT_THAT(peer_from("other").set, IsEmpty());
  EXPECT_EQ(peer_from("other:n=1,note=a:b=c").workload, "other");
  EXPECT_THAT(peer_from("other:n=1,note=a:b=c").set, ElementsAre(Pair("n", "1"), Pair("note", "a:b=c")));
  EXPECT_EQ(peer_from("./x.so:other").workload, "./x.so:other");
  EXPECT_EQ(peer_from("./x.so:other:n=1").workload, "./x.so:other");
  EXPECT_THAT(peer_from("./x.so:other:n=1").set, ElementsAre(Pair("n", "1")));
  for (const char* wrong : {"", " ", ":", ":n=1", "other:"}) EXPECT_THROW(peer_from(wrong), UsageError) << wrong;
  EXPECT_THROW(peer_from("other:n=1,"), UsageError);
}

TEST_F(Against, SharesParametersAndMethodAndInterleaves) {
  spec_.axes = {axis_from("n=16,32")};
  spec_.set = {{"dtype", "bf16"}};
  spec_.repeat = 2;
  const InterleavedCases found = interleaved("other:tile=8");
  EXPECT_THAT(titles(found),
              ElementsAre("sample causal=false dtype=bf16 n=16 note=plain rate=0.5", "other dtype=bf16 n=16 tile=8",
                          "sample causal=false dtype=bf16 n=32 note=plain rate=0.5", "other dtype=bf16 n=32 tile=8",
                          "sample causal=false dtype=bf16 n=16 note=plain rate=0.5", "other dtype=bf16 n=16 tile=8",
                          "sample causal=false dtype=bf16 n=32 note=plain rate=0.5", "other dtype=bf16 n=32 tile=8"));
  EXPECT_EQ(found.pairs.size(), 2u);
  EXPECT_EQ(found.cases.at(1).run.method.steps, 7);
}

TEST_F(Against, AParameterOfThePeersOwnGoesBeforeAShared) {
  EXPECT_THAT(titles(interleaved("other:n=64")).at(1), "other dtype=fp32 n=64 tile=32");
}

TEST_F(Against, APeerThatSeveralCasesShareIsMadeOnce) {
  spec_.axes = {axis_from("causal=true,false")};
  const InterleavedCases found = interleaved("other");
  EXPECT_EQ(found.cases.size(), 3u);
  ASSERT_EQ(found.pairs.size(), 2u);
  EXPECT_EQ(found.pairs[0].of_peer, found.pairs[1].of_peer);
}

TEST_F(Against, RejectsTheCaseItselfAndWhatThePeerDoesNotAdmit) {
  other_ = plugin_;
  EXPECT_THROW(interleaved("sample"), UsageError);
  EXPECT_EQ(interleaved("sample:n=9").pairs.size(), 1u);
  other_ = other_plugin();
  EXPECT_THROW(interleaved("other:tiles=9"), UsageError);
  other_.workloads.front().parameters.front().maximum = 4;  // of n, which is 8
  EXPECT_THROW(interleaved("other"), UsageError);
}

TEST_F(Against, RejectsAPeerThatTheTimingDoesNotFit) {
  plugin_.workloads.front().phases = other_.workloads.front().phases = {"compute"};
  plugin_.workloads.front().asynchronous_step = true;
  spec_.method.timing = measure::Timing::kHot;
  EXPECT_THROW(interleaved("other"), UsageError);
  other_.workloads.front().asynchronous_step = true;
  EXPECT_EQ(interleaved("other").cases.at(1).run.method.timing, measure::Timing::kHot);
}

Json result(int run_id, const char* workload, const char* key, double median_ns, const char* status = "ok") {
  const Json step{{"median_ns", median_ns}, {"mean_ns", median_ns}, {"min_ns", median_ns},
                  {"statistic", "median"},  {"unlike_steps", ""},   {"clock", "device"}};
  return {
      {"run_id", run_id},         {"workload", workload},       {"plan_key", key}, {"status", status}, {"family", ""},
      {"parameters", {{"n", 8}}}, {"phases", {{"step", step}}}, {"ranks", 1}};
}

TEST(AgainstRows, CompareMediansOfRuns) {
  const Json results{result(1, "a", "ka", 2e6), result(2, "b", "kb", 1e6), result(3, "a", "ka", 4e6),
                     result(4, "b", "kb", 1.5e6, "failed")};
  const WorkByRun work{{1, {6e9, 3e6}}, {3, {6e9, 3e6}}, {2, {0, 3e6}}};
  const Json rows = against_rows(results, work, {{"ka", "kb"}});
  EXPECT_EQ(rows[0]["median_ns"], 3e6);
  EXPECT_EQ(rows[0]["ratio"], 1.0);
  EXPECT_DOUBLE_EQ(rows[0]["flops_per_s"].get<double>(), 2e12);
  EXPECT_EQ(rows[1]["runs"], 1);
  EXPECT_DOUBLE_EQ(rows[1]["ratio"].get<double>(), 1.0 / 3);
  EXPECT_TRUE(rows[1]["flops_per_s"].is_null());
  const TextTable table = against_table(rows);
  EXPECT_THAT(table.rows.at(0), ElementsAre("a", "2", "device", "3.00 ms", "2.00 T", "1.00 G", "", ""));
  EXPECT_THAT(table.rows.at(1),
              ElementsAre("b", "1", "device", "1.00 ms", "", "3.00 G", "3.00 times as fast", "AMBIGUOUS"));
  EXPECT_THAT(against_sentences(rows),
              ElementsAre("no verdict: b measured 3.00 times as fast as a by the median step, 1 run; a verdict needs 5 "
                          "runs of each: --repeat, --fresh or 'kymo ab'"));
}

TEST(AgainstRows, AreNamedPerRankWhereThereAreSeveral) {
  Json results{result(1, "a", "ka", 2e6), result(2, "b", "kb", 1e6)};
  const auto titles = [&] {
    const TextTable table = against_table(against_rows(results, {{1, {6e9, 3e6}}}, {{"ka", "kb"}}));
    return std::pair(table.header.at(4), table.header.at(5));
  };
  EXPECT_THAT(titles(), Pair("FLOP/s", "B/s"));
  results[1]["ranks"] = 2;
  EXPECT_THAT(titles(), Pair("FLOP/s per rank", "B/s per rank"));
}

TEST(AgainstRows, ShowTheBandwidthOfCollectivesAtTheMedianOverTheRuns) {
  Json results{result(1, "a", "ka", 2e6), result(2, "a", "ka", 4e6), result(3, "a", "kb", 1e6)};
  for (Json& each : results) {
    Json& step = each["phases"]["step"];
    step["algbw_gb_s"] = 6e6 / step["median_ns"].get<double>();
    step["busbw_gb_s"] = 9e6 / step["median_ns"].get<double>();
  }
  const Json rows = against_rows(results, {}, {{"ka", "kb"}});
  EXPECT_DOUBLE_EQ(rows[0]["algbw_gb_s"].get<double>(), 2);
  EXPECT_DOUBLE_EQ(rows[0]["busbw_gb_s"].get<double>(), 3);
  const TextTable table = against_table(rows);
  EXPECT_EQ(table.header.at(4), "algbw");
  EXPECT_EQ(table.header.at(5), "busbw");
  EXPECT_THAT(table.rows.at(1),
              ElementsAre("a", "1", "device", "1.00 ms", "6.00 GB/s", "9.00 GB/s", "3.00 times as fast", "AMBIGUOUS"));
}

TEST(AgainstRows, StateTheIntervalAndTheVerdict) {
  Json results = Json::array();
  for (int i = 0; i < 5; ++i) {
    results.push_back(result(2 * i, "a", "ka", 2e6 + i));
    results.push_back(result(2 * i + 1, "a", "kb", 1.8e6 + i));
    results.back()["parameters"]["n"] = 9;
  }
  const Json rows = against_rows(results, {}, {{"ka", "kb"}});
  EXPECT_EQ(rows[1]["verdict"], "FASTER");
  EXPECT_TRUE(rows[0]["verdict"].is_null());
  EXPECT_THAT(against_table(rows).rows.at(1),
              ElementsAre("a", "n=9", "5", "device", "1.80 ms", "10.0 % faster", "10.0 to 10.0 %", "FASTER"));
  EXPECT_THAT(
      against_sentences(rows),
      ElementsAre("a:n=9 is 10.0 % faster than a:n=8 by the median step (95 % interval 10.0 to 10.0 %), 5 runs"));
}

TEST(AgainstSentences, NameTheCaseWhereThereAreSeveral) {
  Json results{result(1, "a", "k8", 2e6), result(2, "b", "l8", 1e6), result(3, "a", "k9", 2e6),
               result(4, "b", "l9", 1e6)};
  for (const int i : {2, 3}) results[i]["parameters"]["n"] = 9;
  const auto sentences = against_sentences(against_rows(results, {}, {{"k8", "l8"}, {"k9", "l9"}}));
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_THAT(sentences[0], testing::StartsWith("n=8: no verdict: b measured "));
  EXPECT_THAT(sentences[1], testing::StartsWith("n=9: no verdict: b measured "));
}

TEST(UnlikeWork, IsThatOfOperationsOrOfParameters) {
  Json first{{"workload", "a"}, {"family", ""}, {"parameters", {{"n", 8}}}};
  Json second{{"workload", "b"}, {"family", ""}, {"parameters", {{"n", 8}}}};
  EXPECT_EQ(unlike_work(first, {}, second, {}), "");
  EXPECT_EQ(unlike_work(first, {100e9, 0}, second, {101e9, 0}), "");
  EXPECT_EQ(unlike_work(first, {100e9, 0}, second, {250e9, 0}),
            "a and b do not do the same work: 100 and 250 GFLOP per step");
  second["parameters"]["size"] = "small";
  EXPECT_EQ(unlike_work(first, {100e9, 0}, second, {101e9, 0}), "");
  EXPECT_EQ(unlike_work(first, {100e9, 0}, second, {}),
            "nothing shows that a and b do the same work: only b has size=small");
  first["family"] = second["family"] = "attention";
  EXPECT_EQ(unlike_work(first, {}, second, {}), "");
  second["workload"] = "a";
  EXPECT_EQ(unlike_work(first, {100e9, 0}, second, {250e9, 0}), "");  // parameters that differ are what is compared
}

TEST(AgainstSentences, WarnOfUnlikeWorkOnce) {
  Json results{result(1, "a", "ka", 2e6), result(2, "b", "kb", 1e6)};
  results[1]["parameters"]["size"] = 1;
  const auto sentences = against_sentences(against_rows(results, {}, {{"ka", "kb"}}));
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[1], "warning: nothing shows that a and b do the same work: only b has size=1");
}

TEST(VerdictSentence, NamesTheSides) {
  const auto comparison = [](double ratio, double low, double high, measure::Verdict verdict) {
    measure::Comparison found;
    found.ratio = ratio;
    found.low = low;
    found.high = high;
    found.verdict = verdict;
    return found;
  };
  constexpr auto kMedian = StepStatistic::kMedian;
  measure::Comparison found = comparison(0.949, 0.94, 0.958, measure::Verdict::kFaster);
  EXPECT_EQ(verdict_sentence("A", "B", found, 0.01, kMedian),
            "B is 5.1 % faster than A by the median step (95 % interval 4.2 to 6.0 %)");
  found = comparison(2.5, 2.3, 2.7, measure::Verdict::kSlower);
  EXPECT_EQ(verdict_sentence("A", "B", found, 0.01, kMedian),
            "B takes 2.50 times as long as A by the median step (95 % interval 2.30 to 2.70 times)");
  found = comparison(0.508, 0.493, 0.526, measure::Verdict::kFaster);
  EXPECT_EQ(verdict_sentence("A", "B", found, 0.01, kMedian),
            "B is 1.97 times as fast as A by the median step (95 % interval 1.90 to 2.03 times)");
  found = comparison(1.001, 0.996, 1.003, measure::Verdict::kSame);
  EXPECT_EQ(verdict_sentence("A", "B", found, 0.01, StepStatistic::kMean),
            "A and B take the same time within 1.0 % by the mean step (95 % interval 0.40 % faster to 0.30 % slower)");
  found.verdict = measure::Verdict::kAmbiguous;
  EXPECT_EQ(verdict_sentence("A", "B", found, 0.01, StepStatistic::kMean),
            "no verdict: B measured 0.10 % slower than A by the mean step (95 % interval 0.40 % faster to 0.30 % "
            "slower)");
}

TEST(AgainstRows, CompareMeansWhereStepsAreNotAlike) {
  Json results = Json::array();
  for (int i = 0; i < 5; ++i) {
    results.push_back(result(2 * i, "a", "ka", 10e6 + i));
    Json& step = results.emplace_back(result(2 * i + 1, "b", "kb", 2e6 + i))["phases"]["step"];
    step["mean_ns"] = 9.8e6 + i;
    step["statistic"] = "mean";
    step["unlike_steps"] = "10 % of the steps take more than 1.5 times the median; they are 82 % of the time";
  }
  const Json rows = against_rows(results, {{1, {0, 9.8e6}}}, {{"ka", "kb"}});
  EXPECT_EQ(rows[1]["statistic"], "mean");
  EXPECT_NEAR(rows[1]["ratio"].get<double>(), 0.98, 1e-6);
  EXPECT_NEAR(rows[1]["bytes_per_s"].get<double>(), 1e9, 1e4);
  EXPECT_EQ(against_table(rows).header.at(3), "mean step");
  EXPECT_EQ(against_table(rows).rows.at(1).at(3), "9.80 ms");
  EXPECT_THAT(against_sentences(rows),
              ElementsAre("b is 2.0 % faster than a by the mean step (95 % interval 2.0 to 2.0 %), 5 runs",
                          "the medians say something else: b is 5.00 times as fast as a by the median step (95 % "
                          "interval 5.00 to 5.00 times)"));
}

TEST(AgainstRows, SayNothingOfWhatIsNotKnown) {
  Json results{result(1, "a", "ka", 2e6), result(2, "b", "kb", 1e6)};
  results[1]["phases"]["step"]["clock"] = "host";
  EXPECT_TRUE(against_rows(results, {}, {{"ka", "kb"}})[1]["ratio"].is_null()) << "two clocks";
  const TextTable table = against_table(against_rows(results, {}, {{"ka", "none"}}));
  EXPECT_THAT(table.rows.at(1), ElementsAre("", "0", "", "", ""));
  EXPECT_THAT(against_sentences(against_rows(results, {}, {{"ka", "none"}})), IsEmpty());
}

TEST(AgainstRows, ShowParametersThatDiffer) {
  Json results{result(1, "a", "k1", 2e6), result(2, "a", "k2", 1e6)};
  results[1]["parameters"]["n"] = 9;
  EXPECT_EQ(against_table(against_rows(results, {}, {{"k1", "k2"}})).rows.at(1).at(1), "n=9");
}

}  // namespace
}  // namespace kymo::terminal
