// SPDX-License-Identifier: Apache-2.0
#include "terminal/results_table.hpp"

#include <gmock/gmock.h>

#include "report/renderer.hpp"
#include "terminal/step_times.hpp"

namespace kymo::terminal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Json phase_times(double median_ns) {
  return {{"median_ns", median_ns},
          {"median_low_ns", 0.98 * median_ns},
          {"median_high_ns", 1.05 * median_ns},
          {"mean_ns", 1.1 * median_ns},
          {"min_ns", 0.9 * median_ns},
          {"ci_low_ns", 1.0 * median_ns},
          {"ci_high_ns", 1.32 * median_ns},
          {"statistic", "median"},
          {"unlike_steps", ""},
          {"std_ns", 0.25 * median_ns},
          {"flops", 3e9},
          {"bytes", 6e6},
          {"clock", "host"}};
}

Json case_run(int run_id, int n = 8, double median_ns = 2e6) {
  return {{"run_id", run_id},
          {"workload", "w"},
          {"ranks", 1},
          {"device", "cpu"},
          {"timing", "sync"},
          {"sync", "step"},
          {"warmup", 5},
          {"steps", 0},
          {"until_relative_error", nullptr},
          {"label", ""},
          {"suite_case", ""},
          {"plan_key", "n=" + std::to_string(n)},
          {"plugin_file", "/plugins/w.so"},
          {"plugin_sha256", "0123456789abcdef"},
          {"status", "ok"},
          {"detail", ""},
          {"verification", "passed"},
          {"parameters", {{"n", n}, {"dtype", "fp32"}}},
          {"phases", {{"step", phase_times(median_ns)}, {"compute", phase_times(0.99 * median_ns)}}},
          {"metrics", Json::object()},
          {"checks", Json::array()},
          {"warnings", Json::array()}};
}

Json failed_run(int run_id, const char* status, const char* detail) {
  Json run = case_run(run_id);
  run["status"] = status;
  run["detail"] = detail;
  run["phases"] = Json::object();
  run["verification"] = "unavailable";
  return run;
}

Json with_warning(Json run, const char* kind, const char* detail) {
  run["warnings"].push_back({{"kind", kind}, {"detail", detail}});
  return run;
}

TextTable results_table(const Json& results, Settings shown = Settings::kDiffering) {
  return report::text_table(std::get<report::Table>(results_document(results, shown).sections.at(0).blocks.at(0)));
}

std::string text_of(const Json& results, std::size_t columns = 100) {
  TextStyle style;
  style.columns = columns;
  return results_text(results, style);
}

TEST(ResultsTable, ShowsTheMedianItsIntervalAndThroughput) {
  EXPECT_EQ(text_of(Json::array({case_run(1)})),
            "run  workload      median step  FLOP/s     B/s\n"
            "---  --------  ---------------  ------  ------\n"
            "  1  w         2.00 ms ± 5.0 %  1.50 T  3.00 G\n"
            "run ok, verification passed\n");
}

TEST(ResultsTable, ShowsTheMeanWhereItRepresentsTheRun) {
  Json run = case_run(1);
  for (Json& phase : run["phases"]) phase["statistic"] = "mean";
  EXPECT_EQ(text_of(Json::array({run})),
            "run  workload       mean step      median step  FLOP/s     B/s\n"
            "---  --------  --------------  ---------------  ------  ------\n"
            "  1  w         2.20 ms ± 20 %  2.00 ms ± 5.0 %  1.36 T  2.73 G\n"
            "run ok, verification passed\n");
  EXPECT_EQ(result_line(run), "run 1: w n=8 dtype=fp32: ok, mean step 2.20 ms ± 20 % (median 2.00 ms)");
  run["phases"]["step"]["mean_ns"] = 2.04e6;  // 2 % more than the median, which adds nothing
  EXPECT_THAT(text_of(Json::array({run})), Not(HasSubstr("median step")));
  EXPECT_THAT(result_line(run), Not(HasSubstr("median")));
}

TEST(ResultsTable, SaysThatRatesOfSeveralRanksArePerRank) {
  Json two = case_run(1);
  two["ranks"] = 2;
  EXPECT_EQ(text_of(Json::array({two})),
            "run  workload      median step  FLOP/s per rank  B/s per rank\n"
            "---  --------  ---------------  ---------------  ------------\n"
            "  1  w         2.00 ms ± 5.0 %           1.50 T        3.00 G\n"
            "run ok, verification passed\n");
  two["plan_key"] = "two ranks";
  EXPECT_THAT(results_table({case_run(1), two}).header, testing::Contains("FLOP/s per rank")) << "of some runs";
}

TEST(ResultsTable, ShowsTheBandwidthOfACollectiveAtTheMedianOverTheRuns) {
  const auto collective = [](int run_id, double median_ns) {
    Json run = case_run(run_id, 8, median_ns);
    Json& step = run["phases"]["step"];
    step.erase("flops");
    step.erase("bytes");
    step["algbw_gb_s"] = 4e6 / median_ns;
    step["busbw_gb_s"] = 6e6 / median_ns;
    return run;
  };
  EXPECT_EQ(text_of(Json::array({collective(1, 2e6)})),
            "run  workload      median step      algbw      busbw\n"
            "---  --------  ---------------  ---------  ---------\n"
            "  1  w         2.00 ms ± 5.0 %  2.00 GB/s  3.00 GB/s\n"
            "run ok, verification passed\n");
  const TextTable repeated = results_table({collective(1, 1e6), collective(2, 4e6), collective(3, 2e6)});
  EXPECT_THAT(repeated.header, ElementsAre("run", "workload", "runs", "median step", "between runs", "algbw", "busbw"));
  EXPECT_EQ(repeated.rows.at(0).back(), "3.00 GB/s");
}

TEST(ResultsTable, ShowsOnlyWhatDiffers) {
  Json two = case_run(2, 16, 4e6);
  two["timing"] = "hot";
  EXPECT_EQ(results_table({case_run(1), two}).header,
            (std::vector<std::string>{"run", "workload", "n", "timing", "median step", "FLOP/s", "B/s"}));
  EXPECT_THAT(results_table({case_run(1), two}).rows.at(1),
              ElementsAre("2", "w", "16", "hot", "4.00 ms ± 5.0 %", "750 G", "1.50 G"));
  EXPECT_THAT(results_table({case_run(1), two}, Settings::kAll).header,
              ElementsAre("run", "workload", "build", "dtype", "n", "ranks", "device", "timing", "sync", "warmup",
                          "median step", "mean ± std", "compute", "FLOP/s", "B/s", "status", "verification"));
  two["parameters"]["timing"] = "forward";
  Json one = case_run(1);
  one["parameters"]["timing"] = "forward";
  EXPECT_EQ(results_table({one, two}).header.at(3), "--timing") << "a parameter has that name, too";
}

TEST(ResultsTable, ShowsTheMeanWhereTheRunsAskForIt) {
  Json fixed = case_run(1);
  fixed["steps"] = 10;
  Json until = case_run(1);
  until["until_relative_error"] = 0.01;
  for (const Json& run : {fixed, until}) {
    const TextTable table = results_table(Json::array({run}));
    EXPECT_EQ(table.header.at(3), "mean ± std");
    EXPECT_EQ(table.rows.at(0).at(3), "2.20 ± 0.50 ms");
  }
  fixed["steps"] = 1;
  EXPECT_EQ(results_table(Json::array({fixed})).header.at(3), "FLOP/s");
}

TEST(ResultsTable, SummarizesRepetitions) {
  EXPECT_EQ(text_of({case_run(1, 8, 2e6), case_run(2, 16, 4e6), case_run(3, 8, 2.4e6), case_run(4, 16, 4e6),
                     case_run(5, 8, 2.1e6)}),
            "    run  workload   n  runs  median step        between runs  FLOP/s     B/s\n"
            "-------  --------  --  ----  -----------  ------------------  ------  ------\n"
            "1, 3, 5  w          8     3      2.10 ms  2.00 ms to 2.40 ms  1.43 T  2.86 G\n"
            "   2, 4  w         16     2      4.00 ms  4.00 ms to 4.00 ms   750 G  1.50 G\n"
            "5 runs ok, verification passed\n");
}

TEST(ResultsTable, AbbreviatesTheRunsOfManyRepetitions) {
  EXPECT_EQ(results_table({case_run(1), case_run(3), case_run(5), case_run(7)}).rows.at(0).at(0), "1, 3 … 7");
}

TEST(ResultsTable, CountsRepetitionsThatFailed) {
  const TextTable table = results_table({case_run(1), failed_run(2, "oom", "asked for 3 GiB"), case_run(3)});
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_THAT(table.rows.at(0), ElementsAre("1, 2, 3", "w", "2", "2.00 ms", "2.00 ms to 2.00 ms", "1.50 T", "3.00 G",
                                            "2 ok, 1 oom", "passed"));
}

TEST(ResultsTable, TellsBuildsOfAPluginApart) {
  Json other = case_run(2);
  other["plan_key"] = "other build";
  other["plugin_sha256"] = "fedcba9876543210";
  other["plugin_file"] = "/plugins/new.so";
  EXPECT_EQ(results_table({case_run(1), other}).rows.at(0).at(2), "w.so");
  EXPECT_EQ(results_table({case_run(1), other}).rows.at(1).at(2), "new.so");
  other["plugin_file"] = "/changed/w.so";
  EXPECT_EQ(results_table({case_run(1), other}).rows.at(1).at(2), "changed/w.so");
  other["plugin_file"] = "/plugins/w.so";
  EXPECT_EQ(results_table({case_run(1), other}).rows.at(1).at(2), "w.so fedcba98");
}

TEST(ResultsTable, ShowsPhasesUnlessOneIsTheStep) {
  Json run = case_run(1);
  run["phases"]["other"] = phase_times(1e4);
  EXPECT_EQ(results_table(Json::array({run})).header.size(), 5u);
  run["phases"]["update"] = phase_times(1e6);
  EXPECT_THAT(results_table(Json::array({run})).header,
              ElementsAre("run", "workload", "median step", "compute", "update", "FLOP/s", "B/s"));
  run["phases"]["other"] = phase_times(1e6);
  EXPECT_THAT(results_table(Json::array({run})).header,
              ElementsAre("run", "workload", "median step", "compute", "update", "other", "FLOP/s", "B/s"));
}

TEST(ResultsTable, LeavesOutMetricsFirst) {
  Json run = case_run(1);
  run["steps"] = 10;
  run["metrics"] = {{"loss", {{"value", 9.21034}, {"unit", "nat"}}},
                    {"state", {{"value", 3 << 20}, {"unit", "B"}}},
                    {"backend", {{"value", "flash"}, {"unit", ""}}}};
  EXPECT_EQ(text_of(Json::array({run}), 100),
            "run  workload      median step      mean ± std  FLOP/s     B/s  backend      loss     state\n"
            "---  --------  ---------------  --------------  ------  ------  -------  --------  --------\n"
            "  1  w         2.00 ms ± 5.0 %  2.20 ± 0.50 ms  1.50 T  3.00 G    flash  9.21 nat  3.00 MiB\n"
            "run ok, verification passed\n");
  EXPECT_EQ(text_of(Json::array({run}), 50),
            "run  workload      median step  FLOP/s     B/s\n"
            "---  --------  ---------------  ------  ------\n"
            "  1  w         2.00 ms ± 5.0 %  1.50 T  3.00 G\n"
            "not shown in 50 columns: mean ± std, backend, loss\n"
            "  and 1 more (--wide)\n"
            "run ok, verification passed\n");
  Json other_case = run;
  other_case["plan_key"] = "other";
  EXPECT_THAT(results_table({run, other_case}).header, Not(testing::Contains("loss"))) << "does not differ";
}

TEST(ResultsTable, LeavesMetricsThatAreWarningsToThem) {
  Json run = case_run(1);
  for (const char* name : {"assumed_step_boundary", "not_observed", "other_profiler"})
    run["metrics"][name] = {{"value", "some text"}, {"unit", ""}};
  EXPECT_THAT(text_of(Json::array({run}), 500), Not(HasSubstr("some text")));
  EXPECT_THAT(results_table(Json::array({run}), Settings::kAll).header, testing::Contains("not_observed"))
      << "with --wide";
}

TEST(ResultsTable, NamesEachReasonOnce) {
  Json results{case_run(1), failed_run(2, "crashed", "signal 11\x1b[2J")};
  for (int run_id = 3; run_id < 15; ++run_id) results.push_back(failed_run(run_id, "skipped", "no GPU"));
  EXPECT_THAT(failures(results), ElementsAre("run 2 crashed: signal 11\\x1b[2J",
                                             "runs 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 2 more skipped: no GPU"));
  EXPECT_EQ(agreement(results), "");
}

TEST(ResultsTable, ListsWarningsBelow) {
  Json results{with_warning(case_run(1), "suspended", "44 %"),
               with_warning(case_run(2), "not verified", "not requested"),
               with_warning(case_run(3), "throttled", "all\x1b")};
  EXPECT_THAT(warnings(results), ElementsAre("run 1: suspended: 44 %", "run 3: throttled: all\\x1b"));
  EXPECT_THAT(text_of(results), HasSubstr("\nwarning: run 1: suspended: 44 %\nwarning: run 3: throttled: all\\x1b\n"));
  results = {with_warning(case_run(1), "throttled", "x"), with_warning(case_run(2), "throttled", "x")};
  EXPECT_THAT(warnings(results), ElementsAre("all runs: throttled: x"));
  for (int run_id = 3; run_id < 8; ++run_id)
    results.push_back(with_warning(case_run(run_id), "suspended", std::to_string(run_id).c_str()));
  EXPECT_THAT(warnings(results),
              ElementsAre("5 runs (3, 4, 5 and 2 more): suspended, first: 3", "2 runs (1, 2): throttled: x"));
  EXPECT_EQ(warnings(results, true).size(), 6u) << "every one of them";
}

TEST(ResultsTable, ListsAtMostFiveWarnings) {
  Json run = case_run(1);
  for (const char* kind : {"a", "b", "c", "d", "e"}) run = with_warning(run, kind, "x");
  EXPECT_EQ(warnings(Json::array({run})).back(), "run 1: e: x");
  run = with_warning(run, "f", "x");
  EXPECT_THAT(warnings(Json::array({run})), ElementsAre("run 1: a: x", "run 1: b: x", "run 1: c: x", "run 1: d: x",
                                                        "also: e, f (--wide, kymo show RUN --wide)"));
  EXPECT_EQ(warnings(Json::array({run}), true).size(), 6u);
}

TEST(ResultsTable, WarnsOfUnstableStepsOnlyWithAllWarnings) {
  const Json run = with_warning(case_run(1), "unstable", "44 %");
  EXPECT_THAT(warnings(Json::array({run})), IsEmpty());
  EXPECT_THAT(warnings(Json::array({run}), true), ElementsAre("run 1: unstable: 44 %"));
}

TEST(ResultsTable, ShowsTheFailedAndTheSlowestOfManyCases) {
  Json results = Json::array();
  for (int run_id = 1; run_id <= 161; ++run_id) results.push_back(case_run(run_id, run_id, 1e6 * (run_id % 100 + 1)));
  results[7] = failed_run(8, "crashed", "signal 11");
  results[7]["plan_key"] = "n=8";
  for (Json& run : results) run["invocation_id"] = 3;
  const std::string text = text_of(results);
  EXPECT_THAT(text, testing::ContainsRegex("-\n  8  w          8 +crashed +not verified\n 99  w         99 +100 ms"));
  EXPECT_THAT(text, HasSubstr("\n20 of 161 cases (failed, then slowest); all: kymo runs --invocation 3\n"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 2 + 20 + 1 + 1) << "and the failure";
}

TEST(ResultsTable, TellsCasesOfASuiteApart) {
  Json results = Json::array();
  for (int i = 0; i < 12; ++i) {
    Json run = case_run(i + 1, 8 << i % 3);
    run["plan_key"] = std::to_string(i);
    run["suite_case"] = "scaling of the batch " + std::to_string(i / 3);
    run["parameters"]["some other parameter"] = i / 3;
    results.push_back(std::move(run));
  }
  EXPECT_THAT(text_of(results, 60), HasSubstr("\n  5  scaling of the batch 1  n=16  "));
  EXPECT_THAT(text_of(results, 50), HasSubstr("\n  5  scaling …batch 1  n=16  "));
}

TEST(ResultsTable, MarksAMedianThatIsNotReproducible) {
  Json phase = phase_times(2e6);
  phase["median_low_ns"] = 1e6;
  phase["median_high_ns"] = 3e6;
  EXPECT_EQ(time_text(phase, StepStatistic::kMedian), "2.00 ms ± 50 %");
  phase["median_high_ns"] = 6.22e6;
  EXPECT_EQ(time_text(phase, StepStatistic::kMedian), "2.00 ms ± 211 % (not reproducible)");
}

TEST(ResultsTable, NamesARunOnceThatHasAWarningSeveralTimes) {
  const auto twice = [](int run_id, const char* kind, const char* detail) {
    Json run = with_warning(case_run(run_id), kind, detail);
    run["warnings"].push_back(run["warnings"].back());
    return run;
  };
  const Json results{twice(1, "dropped records", "x"), case_run(2), twice(3, "dropped records", "y")};
  EXPECT_THAT(warnings(results), ElementsAre("2 runs (1, 3): dropped records, first: x"));
}

TEST(ResultsTable, PrintsMarkdown) {
  TextStyle style;
  style.markdown = true;
  style.columns = 10;
  EXPECT_EQ(results_text(Json::array({with_warning(case_run(1), "throttled", "44 %")}), style),
            "| run | workload | median step | FLOP/s | B/s |\n"
            "| ---: | :--- | ---: | ---: | ---: |\n"
            "| 1 | w | 2.00 ms ± 5.0 % | 1.50 T | 3.00 G |\n"
            "\n"
            "- run ok, verification passed\n"
            "- warning: run 1: throttled: 44 %\n");
}

TEST(ResultsTable, LineOfOneRun) {
  Json run = case_run(7);
  run["status"] = "oom";
  run["detail"] = "asked for 3 GiB\n";
  EXPECT_EQ(result_line(run), "run 7: w n=8 dtype=fp32: oom, median step 2.00 ms ± 5.0 % (asked for 3 GiB\\n)");
  run["phases"]["step"]["median_low_ns"] = nullptr;
  EXPECT_THAT(result_line(run), HasSubstr("median step 2.00 ms ("));
}

TEST(ResultsTable, FailuresNameTheirStage) {
  const Json results{{{"run_id", 1}, {"status", "failed"}, {"detail", "no file"}, {"failed_phase", "prepare"}},
                     {{"run_id", 2}, {"status", "failed"}, {"detail", "no file"}, {"failed_phase", "forward"}}};
  EXPECT_THAT(failures(results),
              testing::ElementsAre("run 1 failed in prepare: no file", "run 2 failed in forward: no file"));
}

}  // namespace
}  // namespace kymo::terminal
