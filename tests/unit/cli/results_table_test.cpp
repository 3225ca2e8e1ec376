// SPDX-License-Identifier: Apache-2.0
#include "cli/results_table.hpp"

#include <gtest/gtest.h>

namespace kymo::cli {
namespace {

Json result(int run_id, const char* status, const char* detail, int n) {
  const Json time{{"mean_ns", 2e6}, {"std_ns", 1e5}, {"excluded", 0}, {"all_throttled", 0}};
  return {{"run_id", run_id},
          {"workload", "w"},
          {"ranks", 1},
          {"device", "cpu"},
          {"timing", "sync"},
          {"sync", "step"},
          {"warmup", 5},
          {"status", status},
          {"detail", detail},
          {"verification", "unavailable"},
          {"parameters", {{"n", n}, {"dtype", "fp32"}}},
          {"phases", {{"step", time}, {"compute", time}}},
          {"checks", Json::array()}};
}

TEST(ResultsTable, ShowsOnlyParametersThatDiffer) {
  const TextTable table = results_table({result(1, "ok", "", 8), result(2, "ok", "", 16)});
  EXPECT_EQ(table.rows.at(1),
            (std::vector<std::string>{"2", "w", "n=16", "2.00 ms ± 100 µs", "compute 2.00 ms", "ok", "not verified"}));
  EXPECT_EQ(results_table(Json::array({result(1, "ok", "", 8)})).rows.at(0).at(2), "");
}

TEST(ResultsTable, TellsTimingsOfOneWorkloadApart) {
  Json hot = result(2, "ok", "", 8);
  hot["timing"] = "hot";
  const TextTable table = results_table({result(1, "ok", "", 8), hot});
  EXPECT_EQ(table.rows.at(0).at(2), "timing=sync");
  EXPECT_EQ(table.rows.at(1).at(2), "timing=hot");
  hot["parameters"]["timing"] = "forward";
  EXPECT_EQ(results_table({hot, result(1, "ok", "", 8)}).rows.at(0).at(2), "--timing=hot")
      << "a parameter has that name, too";
}

TEST(ResultsTable, SaysWhenStepsWereThrottled) {
  Json one = result(1, "ok", "", 8);
  one["phases"]["step"]["excluded"] = 2;
  EXPECT_EQ(results_table(Json::array({one})).rows.at(0).at(3), "2.00 ms ± 100 µs (2 throttled excluded)");
  one["phases"]["step"]["all_throttled"] = 1;
  EXPECT_EQ(results_table(Json::array({one})).rows.at(0).at(3), "2.00 ms ± 100 µs (throttled)");
  one["phases"]["step"]["std_ns"] = nullptr;
  EXPECT_EQ(results_table(Json::array({one})).rows.at(0).at(3), "2.00 ms (throttled)");
}

TEST(ResultsTable, NamesEachReasonOnce) {
  Json results{result(1, "ok", "", 1), result(2, "crashed", "signal 11\x1b[2J", 1)};
  for (int run_id = 3; run_id < 15; ++run_id) results.push_back(result(run_id, "skipped", "no GPU", 1));
  EXPECT_EQ(failures(results),
            "run 2 crashed: signal 11\\x1b[2J\nruns 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 2 more skipped: no GPU\n");
}

TEST(ResultsTable, LineOfOneRun) {
  EXPECT_EQ(result_line(result(7, "oom", "asked for 3 GiB\n", 8)),
            "run 7: w n=8 dtype=fp32: oom, step 2.00 ms ± 100 µs (asked for 3 GiB\\n)");
}

}  // namespace
}  // namespace kymo::cli
