// SPDX-License-Identifier: Apache-2.0
#include "terminal/comparison_table.hpp"

#include <gmock/gmock.h>

#include <optional>

#include "base/error.hpp"
#include "report/renderer.hpp"

namespace kymo::terminal {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

constexpr double kMargin = 0.01;

report::TextTable comparison_table(const Json& rows) {
  return report::text_table(std::get<report::Table>(comparison_document(rows).sections.at(0).blocks.at(0)));
}

Json phase(double median_ns, double mean_ns, const char* statistic, const char* unlike_steps = "") {
  return {{"median_ns", median_ns}, {"mean_ns", mean_ns},           {"min_ns", 0.5 * median_ns},
          {"statistic", statistic}, {"unlike_steps", unlike_steps}, {"clock", "host"}};
}

Json run(double median_ns, int n = 8) {
  static int count = 0;
  ++count;
  const Json time = phase(median_ns, median_ns, "median");
  return {{"workload", "w"},
          {"case_key", "w n=" + std::to_string(n)},
          {"parameters", {{"n", n}, {"dtype", "fp32"}}},
          {"ranks", 1},
          {"device", "cpu"},
          {"timing", "sync"},
          {"sync", "step"},
          {"status", "ok"},
          {"phases", {{"step", time}}},
          {"build", "b1"},
          {"began", "2026-01-01T00:00:00Z"},
          {"machine", "A"},
          {"sm_clock_mhz", nullptr},
          {"loop_ns", nullptr},
          {"fastest_loop_ns", nullptr},
          {"run_id", count},
          {"process", "p" + std::to_string(count)}};
}

Json side(const std::vector<double>& medians_ns, int n = 8) {
  Json runs = Json::array();
  for (const double median_ns : medians_ns) runs.push_back(run(median_ns, n));
  return runs;
}

Json changed(Json runs, const char* name, const Json& value) {
  for (Json& each : runs) each[name] = value;
  return runs;
}

Json together(Json runs, const Json& more) {
  for (const Json& each : more) runs.push_back(each);
  return runs;
}

/// Runs during which the reference loop took as long all the time, or at best `fastest_ns`.
Json with_loop(Json runs, double loop_ns, std::optional<double> fastest_ns = std::nullopt) {
  return changed(changed(std::move(runs), "loop_ns", loop_ns), "fastest_loop_ns", fastest_ns.value_or(loop_ns));
}

/// Runs on a busy machine, whose usual steps say little: the fastest step of every third run is slow, too.
Json disturbed(const std::vector<double>& fastest_ns) {
  Json runs = with_loop(side(std::vector<double>(fastest_ns.size(), 200e3)), 18e3, 10e3);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Json& step = runs[i]["phases"]["step"];
    step["median_ns"] = 150e3 + 40e3 * static_cast<double>(i % 4);
    step["min_ns"] = (i % 3 == 2 ? 1.4 : 1) * fastest_ns[i];
  }
  return runs;
}

const std::vector<double> kFast{100e3, 101e3, 99e3, 100e3, 102e3};
const std::vector<double> kSlow{200e3, 202e3, 198e3, 200e3, 204e3};

TEST(ComparisonRows, PairCasesWhateverTheirOrder) {
  const Json rows = comparison_rows(together(side(kFast, 8), side(kSlow, 16)),
                                    together(side(kSlow, 16), side(kSlow, 8)), "step", kMargin);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["parameters"]["n"], 8);
  EXPECT_EQ(rows[0]["verdict"], "SLOWER");
  EXPECT_DOUBLE_EQ(rows[0]["ratio"].get<double>(), 2);
  EXPECT_EQ(rows[0]["before"]["median_ns"], 100e3);
  EXPECT_EQ(rows[0]["after"]["median_ns"], 200e3);
  EXPECT_EQ(rows[0]["after"]["runs"], 5);
  EXPECT_EQ(rows[1]["parameters"]["n"], 16);
  EXPECT_EQ(rows[1]["ratio"], 1);
  EXPECT_THAT(rows[0]["notes"], IsEmpty());
}

TEST(ComparisonRows, KeepTimingsAndBracketsApart) {
  for (const auto& [name, value] : {std::pair{"timing", "hot"}, std::pair{"sync", "phase"}}) {
    const Json after = changed(changed(side(kSlow), name, value), "case_key", "w n=8 and another timing");
    const Json rows = comparison_rows(side(kFast), after, "step", kMargin);
    ASSERT_EQ(rows.size(), 2u);
    for (const Json& row : rows) EXPECT_TRUE(row["verdict"].is_null());
    const report::TextTable table = comparison_table(rows);
    EXPECT_EQ(table.rows.at(0).back(), "only before");
    EXPECT_EQ(table.rows.at(1).back(), "only after");
    EXPECT_THAT(table.rows.at(1).at(1), HasSubstr(std::string(name) + "=" + value));
    EXPECT_THAT(comparison_notes(rows), Contains(HasSubstr("no case has runs on both sides")));
  }
}

TEST(ComparisonRows, LeaveFailedRunsOutAndSaySo) {
  Json after = side(kSlow);
  after[0]["status"] = "oom";
  after[1]["status"] = "verify_failed";
  const Json rows = comparison_rows(side(kFast), after, "step", kMargin);
  EXPECT_EQ(rows[0]["after"]["runs"], 3);
  EXPECT_EQ(rows[0]["after"]["failed"], 2);
  EXPECT_EQ(rows[0]["verdict"], "AMBIGUOUS") << "three runs take no verdict";
  EXPECT_EQ(comparison_table(rows).rows.at(0).at(5), "3 of 5");
  EXPECT_THAT(comparison_notes(rows), ElementsAre("w: after: 2 runs excluded (status: oom, verify_failed)",
                                                  HasSubstr("too few runs for a verdict, 5 before and 3 after")));
}

TEST(ComparisonRows, ASideOfFailuresIsNotCompared) {
  const Json rows = comparison_rows(side(kFast), changed(side({1}), "status", "crashed"), "step", kMargin);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0]["after"]["median_ns"].is_null());
  EXPECT_EQ(comparison_table(rows).rows.at(0).at(5), "0 of 1");
  EXPECT_THAT(comparison_notes(rows), Contains("w: after: 1 run excluded (status: crashed)"));
}

TEST(ComparisonRows, CountOnlyTheNewestBuildOfASide) {
  Json before = changed(changed(side(kSlow), "build", "old"), "began", "2025-12-31T23:59:59Z");
  before = together(before, side(kFast));
  const Json rows = comparison_rows(before, side(kFast), "step", kMargin);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["before"]["runs"], 5);
  EXPECT_EQ(rows[0]["before"]["median_ns"], 100e3);
  EXPECT_THAT(comparison_notes(rows), ElementsAre("w: before: 5 runs of an older build of the plugin excluded"));
}

TEST(ComparisonRows, OfBuildsThatBeganTogetherTheLaterRunTellsTheNewest) {
  for (const auto& [older, newer] : {std::pair{"1", "2"}, std::pair{"2", "1"}}) {
    const Json first = changed(side(kSlow), "build", older);
    const Json second = changed(side(kFast), "build", newer);
    const Json before = together(first, second);
    for (const Json& runs : {before, Json(Json::array_t(before.rbegin(), before.rend()))}) {
      const Json rows = comparison_rows(runs, side(kFast), "step", kMargin);
      EXPECT_EQ(rows[0]["before"]["runs"], 5);
      EXPECT_EQ(rows[0]["before"]["median_ns"], 100e3) << "build " << newer << " counts";
    }
  }
}

TEST(ComparisonRows, SayWhatSpeaksAgainstAComparison) {
  const Json elsewhere = comparison_rows(side(kFast), changed(side(kSlow), "machine", "B"), "step", kMargin);
  EXPECT_EQ(elsewhere[0]["verdict"], "SLOWER");
  EXPECT_THAT(comparison_notes(elsewhere), ElementsAre("w: measured on different machines: A; B"));

  const Json slower_clock = comparison_rows(changed(side(kFast), "sm_clock_mhz", 1980),
                                            changed(side(kSlow), "sm_clock_mhz", 1755), "step", kMargin);
  EXPECT_THAT(comparison_notes(slower_clock), ElementsAre("w: SM clocks differ: 1980 MHz before, 1755 MHz after"));
  const Json same_clock = comparison_rows(changed(side(kFast), "sm_clock_mhz", 1980),
                                          changed(side(kSlow), "sm_clock_mhz", 1965), "step", kMargin);
  EXPECT_THAT(comparison_notes(same_clock), IsEmpty());

  const auto loops = [](double before_ns, double after_ns) {
    return comparison_notes(
        comparison_rows(with_loop(side(kFast), before_ns), with_loop(side(kSlow), after_ns), "step", kMargin));
  };
  EXPECT_THAT(loops(10e3, 11.5e3), ElementsAre("w: a reference loop between the steps was 15.0 % slower after: other "
                                               "processes or a lower clock slowed the machine after; measure both "
                                               "sides in turn"));
  EXPECT_THAT(loops(18e3, 10e3),
              ElementsAre(AllOf(HasSubstr("1.80 times as fast after: "), HasSubstr("slowed the machine before"))));
  EXPECT_THAT(loops(10e3, 10.2e3), IsEmpty()) << "within the noise of the loop";

  const Json shared = comparison_rows(changed(side(kFast), "process", "one"), side(kSlow), "step", kMargin);
  EXPECT_THAT(comparison_notes(shared),
              ElementsAre(AllOf(HasSubstr("w: before: 5 runs shared a process"), HasSubstr("--fresh"))));
}

TEST(ComparisonRows, OfRunsOnABusyMachineCompareTheFastestSteps) {
  const std::vector<double> before(9, 100e3), after(9, 105e3);
  const Json row = comparison_rows(disturbed(before), disturbed(after), "step", kMargin)[0];
  EXPECT_EQ(row["statistic"], "fastest");
  EXPECT_EQ(row["verdict"], "SLOWER");
  EXPECT_NEAR(row["ratio"], 1.05, 1e-9);
  EXPECT_EQ(row["before"]["time_ns"], 100e3);
  EXPECT_THAT(comparison_notes(Json::array({row})),
              ElementsAre("w: the machine was often busy: the fastest steps are compared, in 6 of 9 runs of "
                          "before and 6 of 9 of after, which were undisturbed"));
  EXPECT_EQ(comparison_rows(disturbed(before), disturbed(before), "step", kMargin)[0]["verdict"], "SAME");
}

TEST(ComparisonRows, CompareTheFastestStepsForNoOtherReason) {
  const std::vector<double> times(9, 100e3);
  const auto statistic = [&](const Json& before) {
    return comparison_rows(before, side(times), "step", kMargin)[0]["statistic"];
  };
  EXPECT_EQ(statistic(disturbed(times)), "fastest") << "one busy side is enough";
  EXPECT_EQ(statistic(with_loop(disturbed(times), 10.2e3, 10e3)), "median");
  EXPECT_EQ(statistic(with_loop(disturbed(times), 18e3)), "median") << "never faster: a slow machine";
  EXPECT_EQ(statistic(changed(disturbed(times), "loop_ns", nullptr)), "median");
  Json unlike = disturbed(times);
  for (Json& each : unlike) each["phases"]["step"]["statistic"] = "mean";
  EXPECT_EQ(statistic(unlike), "mean") << "the fastest step is one of few";
}

TEST(ComparisonRows, DifferentClocksAreNotCompared) {
  Json after = side(kSlow);
  for (Json& each : after) each["phases"]["step"]["clock"] = "cuda";
  const Json rows = comparison_rows(side(kFast), after, "step", kMargin);
  EXPECT_TRUE(rows[0]["verdict"].is_null());
  EXPECT_EQ(comparison_table(rows).rows.at(0).back(), "not compared");
  EXPECT_THAT(comparison_notes(rows), Contains("w: timed on different clocks (host; cuda): not compared"));
}

TEST(ComparisonRows, AnUnknownPhaseNamesThoseThatThereAre) {
  try {
    comparison_rows(side(kFast), side(kSlow), "stop", kMargin);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'stop'"), HasSubstr("'step'")));
  }
  const Json without = changed(changed(side({1}), "phases", Json::object()), "status", "crashed");
  EXPECT_EQ(comparison_rows(without, without, "backward", kMargin).size(), 1u)
      << "nothing was timed at all: failures, not a wrong name";
}

/// Runs of a program: all of its steps count.
Json program(const std::vector<double>& medians_ns, const std::vector<double>& means_ns, const char* unlike_steps) {
  Json runs = side(medians_ns);
  for (std::size_t i = 0; i < runs.size(); ++i)
    runs[i]["phases"]["step"] = phase(medians_ns[i], means_ns[i], "mean", unlike_steps);
  return runs;
}

constexpr const char* kStalls = "10 % of the steps take more than 1.5 times the median; they are 82 % of the time";
const std::vector<double> kTen{10.0e6, 10.01e6, 9.99e6, 10.02e6, 9.98e6};
const std::vector<double> kNearlyTen{9.8e6, 9.81e6, 9.79e6, 9.82e6, 9.78e6};
const std::vector<double> kTwo{2.0e6, 2.01e6, 1.99e6, 2.02e6, 1.98e6};

TEST(ComparisonRows, CompareTheTimeOfAllStepsOfPrograms) {
  // Ten steps of 10 ms against nine of 2 ms and one of 80 ms.
  const Json rows = comparison_rows(program(kTen, kTen, ""), program(kTwo, kNearlyTen, kStalls), "step", kMargin);
  EXPECT_EQ(rows[0]["statistic"], "mean");
  EXPECT_NEAR(rows[0]["ratio"].get<double>(), 0.98, 1e-9);
  EXPECT_EQ(rows[0]["verdict"], "FASTER") << "by 2 %, not by 80 %";
  EXPECT_EQ(rows[0]["after"]["time_ns"], 9.8e6);
  EXPECT_EQ(rows[0]["after"]["mean_ns"], 9.8e6);
  EXPECT_EQ(rows[0]["after"]["median_ns"], 2.0e6);
  EXPECT_EQ(rows[0]["after"]["unlike_steps"], kStalls);
  EXPECT_EQ(rows[0]["by_other"]["statistic"], "median");
  EXPECT_NEAR(rows[0]["by_other"]["ratio"].get<double>(), 0.2, 1e-9);
  EXPECT_THAT(comparison_notes(rows), ElementsAre("w: after: " + std::string(kStalls),
                                                  testing::StartsWith("w: the medians say something else: after is ")));
  const report::TextTable table = comparison_table(rows);
  EXPECT_THAT(table.header, IsSupersetOf({"mean before", "mean after"}));
  EXPECT_EQ(table.rows.at(0).at(2), "10.0 ms");
  EXPECT_EQ(table.rows.at(0).at(4), "9.80 ms");
}

TEST(ComparisonRows, FindASpeedUpOfTheSlowStepsAlone) {
  // The median is 2 ms on both sides; the slow steps take half as long.
  const Json rows = comparison_rows(program(kTwo, kNearlyTen, kStalls),
                                    program(kTwo, {5.8e6, 5.81e6, 5.79e6, 5.82e6, 5.78e6}, kStalls), "step", kMargin);
  EXPECT_EQ(rows[0]["verdict"], "FASTER");
  EXPECT_NEAR(rows[0]["ratio"].get<double>(), 5.8 / 9.8, 1e-9);
  EXPECT_NEAR(rows[0]["by_other"]["ratio"].get<double>(), 1, 1e-9);
}

TEST(ComparisonRows, BothSidesUseTheMeanIfEitherNeedsIt) {
  Json stalling = side(kTwo);
  for (std::size_t i = 0; i < 5; ++i)
    stalling[i]["phases"]["step"] = phase(kTwo[i], kNearlyTen[i], i < 3 ? "mean" : "median", kStalls);
  for (const auto& [before, after] : {std::pair{side(kTen), stalling}, std::pair{stalling, side(kTen)}})
    EXPECT_EQ(comparison_rows(before, after, "step", kMargin)[0]["statistic"], "mean");
  // Two runs of five are a minority, such as runs that another process disturbed.
  for (std::size_t i = 2; i < 5; ++i) stalling[i]["phases"]["step"]["statistic"] = "median";
  const Json rows = comparison_rows(side(kTen), stalling, "step", kMargin);
  EXPECT_EQ(rows[0]["statistic"], "median");
  EXPECT_NEAR(rows[0]["ratio"].get<double>(), 0.2, 1e-9);
  EXPECT_EQ(rows[0]["by_other"]["statistic"], "mean") << "equal verdicts: FASTER by 2 % is another ratio, and is said";
}

TEST(ComparisonTable, SaysOfEachRowWhatItComparesIfThatDiffers) {
  Json before = together(side(kTen, 16), program(kTen, kTen, ""));
  Json after = together(side(kTwo, 16), program(kTwo, kNearlyTen, kStalls));
  const report::TextTable table = comparison_table(comparison_rows(before, after, "step", kMargin));
  EXPECT_EQ(table.header.at(2), "times");
  EXPECT_EQ(table.rows.at(0).at(2), "medians");
  EXPECT_EQ(table.rows.at(1).at(2), "means");
}

TEST(ComparisonTable, ShowsRatioIntervalAndVerdict) {
  const report::TextTable table = comparison_table(comparison_rows(side(kFast), side(kSlow), "step", kMargin));
  EXPECT_THAT(table.rows.at(0), ElementsAre("w", "", "100 µs", "5", "200 µs", "5", "2.00 times as long",
                                            HasSubstr(" times"), "0.008", "SLOWER"));
  EXPECT_THAT(table.header, IsSupersetOf({"median before", "median after", "change"}));
}

TEST(ComparisonTable, SaysHowManyMoreRunsWouldDecide) {
  const report::TextTable table = comparison_table(comparison_rows(
      side({90e3, 95e3, 100e3, 105e3, 110e3}), side({92e3, 98e3, 103e3, 107e3, 113e3}), "step", kMargin));
  EXPECT_EQ(table.rows.at(0).at(9), "AMBIGUOUS");
  EXPECT_EQ(table.header.back(), "needs runs");
  EXPECT_THAT(table.rows.at(0).back(), testing::MatchesRegex("about [0-9]+ more on each side"));
}

TEST(ComparisonTable, SaysHowToMakeEnoughRuns) {
  const Json few = comparison_rows(side({90e3}), side({92e3, 98e3}), "step", kMargin);
  EXPECT_EQ(comparison_table(few).rows.at(0).back(), "5 on each side");
  EXPECT_THAT(comparison_notes(few), Contains(HasSubstr("too few runs for a verdict, 1 before and 2 after, where 5 of "
                                                        "each are needed: kymo run --fresh --repeat 5")));
  Json program = side({90e3});
  for (Json& each : program) each["timing"] = "free";
  EXPECT_THAT(comparison_notes(comparison_rows(program, program, "step", kMargin)),
              Contains(HasSubstr(": kymo trace --repeat 5")));
}

TEST(ComparisonTable, NamesThePhaseIfItIsNotTheStep) {
  Json before = side(kFast);
  for (Json& each : before) each["phases"]["backward"] = each["phases"]["step"];
  EXPECT_EQ(comparison_table(comparison_rows(before, before, "backward", kMargin)).header.at(2),
            "median backward before");
}

TEST(ComparisonNotes, NameFewCasesAndCountMany) {
  const auto shared = [](int cases) {
    Json before = Json::array(), after = Json::array();
    for (int n = 0; n < cases; ++n) before = together(before, changed(side(kFast, n), "process", "one"));
    for (int n = 0; n < cases + 1; ++n) after = together(after, side(kSlow, n));
    return comparison_notes(comparison_rows(before, after, "step", kMargin));
  };
  EXPECT_THAT(shared(2), ElementsAre(HasSubstr("w n=0; w n=1: before")));
  EXPECT_THAT(shared(4), ElementsAre(HasSubstr("4 cases: before")));
}

}  // namespace
}  // namespace kymo::terminal
