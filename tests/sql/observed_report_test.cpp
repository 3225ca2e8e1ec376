// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>

#include "base/file.hpp"
#include "report/report.hpp"

namespace kymo::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::filesystem::path kSource = KYMO_SOURCE_DIR;

/// Creates a results database with the rows of tests/sql/common/runs.sql and of one other file.
std::filesystem::path make_database(const std::filesystem::path& folder, const char* observed) {
  std::filesystem::path file = folder / "results.db";
  {
    const store::ResultsDatabase created(file, store::ResultsDatabase::Mode::kCreate);
  }
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  for (const char* rows : {"runs.sql", observed}) {
    const std::string sql = read_file(kSource / "tests" / "sql" / "common" / rows);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  }
  sqlite3_close_v2(database);
  return file;
}

class ObservedReport : public ::testing::Test {
 protected:
  explicit ObservedReport(const char* observed = "collected.sql")
      : folder_(make_private_folder("kymo-observed-report-test")) {
    database_ = std::make_unique<store::ResultsDatabase>(make_database(folder_, observed),
                                                         store::ResultsDatabase::Mode::kReadOnly);
  }
  ~ObservedReport() override {
    database_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string markdown(const std::string& name) {
    const std::string report = (kSource / "reports" / name).string();
    return read_file(make_report(*database_, find_report(report), {folder_ / name, {"markdown"}, {}})[0]);
  }

  std::filesystem::path folder_;
  std::unique_ptr<store::ResultsDatabase> database_;
};

/// Adds three newer copies of all runs, with their records and longer times.
void add_history(sqlite3* database) {
  std::string sql = "BEGIN;";
  const auto for_each_row = [&](const std::string& query, const auto& use) {
    sqlite3_stmt* statement = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW)
      use(std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0))));
    sqlite3_finalize(statement);
  };
  for_each_row("SELECT name FROM sqlite_master WHERE type = 'table'", [&](const std::string& table) {
    std::string values, key;
    for_each_row("SELECT name FROM pragma_table_info('" + table + "')", [&](const std::string& column) {
      if (key.empty()) key = column;
      std::string value = column;
      if (column == "run_id" || column == "invocation_id") value += " + 1000 * i";
      if (table == "invocation" && column == "uuid") value += " || i";
      if (table == "invocation" && column == "started_at") value = "'2030-01-0' || i || 'T00:00:00.000Z'";
      if (table == "statistic" && column.ends_with("_ns")) value += " * (1 + 0.5 * i)";
      values += (values.empty() ? "" : ", ") + value;
    });
    if (key == "run_id" || key == "invocation_id")
      sql += "INSERT INTO \"" + table + "\" SELECT " + values + " FROM \"" + table +
             "\", (SELECT 1 AS i UNION ALL SELECT 2 UNION ALL SELECT 3);";
  });
  ASSERT_EQ(sqlite3_exec(database, (sql + "COMMIT").c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
}

std::string first_difference(const std::string& one, const std::string& other) {
  const auto at =
      static_cast<std::size_t>(std::mismatch(one.begin(), one.end(), other.begin(), other.end()).first - one.begin());
  const std::size_t line = at == 0 ? 0 : one.rfind('\n', at - 1) + 1;
  return one.substr(line, 300) + "\nbut was:\n" + other.substr(line, 300);
}

class HiddenHistory : public ::testing::TestWithParam<const char*> {};

TEST_P(HiddenHistory, DoesNotChangeAReport) {
  const std::filesystem::path folder = make_private_folder("kymo-hidden-history-test");
  const std::filesystem::path file = make_database(folder, GetParam());
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  add_history(database);
  sqlite3_close_v2(database);
  for (const char* name : {"quick", "cs336", "cs336-2026"}) {
    ReportDefinition definition = find_report((kSource / "reports" / name).string());
    ASSERT_TRUE(definition.hides_history);
    std::string text[2];
    for (const bool hides : {false, true}) {
      store::ResultsDatabase results(file, store::ResultsDatabase::Mode::kReadOnly);
      definition.hides_history = hides;
      text[hides ? 1 : 0] = read_file(make_report(results, definition, {folder / name, {"markdown"}, {}})[0]);
      const auto runs = results.query("SELECT count(*) FROM run WHERE run_id < 1000").rows.at(0).at(0).integer;
      EXPECT_EQ(runs > 0, !hides);
    }
    EXPECT_TRUE(text[0] == text[1]) << name << ": " << first_difference(text[0], text[1]);
  }
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Rows, HiddenHistory,
                         ::testing::Values("collected.sql", "distributed.sql", "attention.sql", "compiled.sql"));

TEST_F(ObservedReport, AssignmentSaysWhereTheTimeAndTheMemoryWent) {
  const std::string text = markdown("cs336");
  EXPECT_THAT(text, HasSubstr("from traces of 2 runs"));
  EXPECT_THAT(text, HasSubstr("between 55.6\u00A0% and 55.6\u00A0%"));
  EXPECT_THAT(text, HasSubstr("| small | 256 | 75.0 | 73.2 | 55.6 | optimizer | 0.0 | 21.7 |"));
  EXPECT_THAT(text,
              HasSubstr("The softmax takes up to 25.0\u00A0% of the attention time (small, context 256, forward): "
                        "0.333 times the time of the two matmuls"));
  EXPECT_THAT(text, HasSubstr("where a GPU was traced, its kernels and copies: kernels, small, context 256, train."));
  EXPECT_THAT(text, HasSubstr("Outlier kernel calls: 5, in 1 run; total excess over the median: "));
  EXPECT_THAT(text, HasSubstr("| small | 512 | fp32 | `train` | OOM |"));
  EXPECT_THAT(text, HasSubstr("`NaiveAttention::multiply`"));
  EXPECT_THAT(text, HasSubstr("the driver peak"));
  EXPECT_THAT(text, HasSubstr("Dropped records: 2 entries in 2 runs, listed in section Run status."));
  EXPECT_THAT(text, HasSubstr("figures/kernel-classes-small-context-256.svg"));
  EXPECT_THAT(text, Not(HasSubstr("**Kernels**")));
  EXPECT_THAT(text, Not(HasSubstr("**Memory**")));
}

TEST_F(ObservedReport, QuickLookHasEverySection) {
  const std::string text = markdown("quick");
  EXPECT_THAT(text, HasSubstr("`softmax_warp_forward`"));
  EXPECT_THAT(text, HasSubstr("`BmmBackward0 (backward)`"));
  EXPECT_THAT(text, HasSubstr("`block/attention/softmax`"));
  EXPECT_THAT(text, HasSubstr("no measurable overhead"));
  EXPECT_THAT(text, HasSubstr("figures/kernel-chart-transformer-lm.svg"));
  EXPECT_THAT(text, HasSubstr("no kernel records"));
  EXPECT_THAT(text, Not(HasSubstr("to the command")));
  EXPECT_THAT(text, HasSubstr("| `aten::bmm` | `block/attention/scores` | 2.00 |"));
  EXPECT_THAT(text, HasSubstr("The peaks of the device were not measured: `kymo peaks` measures them."));
  EXPECT_THAT(text, HasSubstr("the largest: bmm, block/attention/scores (2.00 ms)"));
}

class DistributedReport : public ObservedReport {
 protected:
  DistributedReport() : ObservedReport("distributed.sql") {}
};

TEST_F(DistributedReport, AssignmentSaysWhatCommunicationCosts) {
  const std::string text = markdown("cs336");
  EXPECT_THAT(text, HasSubstr("The highest busbw is 9.90\u00A0GB/s (`nccl`, 2 ranks"));
  EXPECT_THAT(text, HasSubstr("the phase `communication` takes 41.2\u00A0% of the step"));
  EXPECT_THAT(text, HasSubstr("The fastest strategy is ddp_bucketed, 10 MiB"));
  EXPECT_THAT(text,
              HasSubstr("In the trace of ddp_naive, 0.0\u00A0% of communication overlaps with compute; in that of "
                        "ddp_overlap, which hides the most, 59.4\u00A0%"));
  EXPECT_THAT(text, HasSubstr("the best bucket size is 6.18 MiB"));
  EXPECT_THAT(text, HasSubstr("the optimizer state per rank after the update is 50.0\u00A0%"));
  EXPECT_THAT(text, HasSubstr("**Self-checks failed**: bandwidth of the link (1 run), traced step (1 run)."));
  EXPECT_THAT(
      text,
      HasSubstr("exceeds that of all_reduce by more than 15 % | 2 | 1 | busbw of all_reduce in backward is 12.2 GB/s"));
  EXPECT_THAT(text, HasSubstr("figures/ddp-timeline.svg"));
  EXPECT_THAT(text, HasSubstr("figures/all-reduce-time.svg"));
  EXPECT_THAT(text, HasSubstr("figures/bucket-sweep"));
  EXPECT_THAT(text, HasSubstr("figures/sharding-categories"));
}

// Verdicts follow from the confidence intervals, and there is none without them.
TEST_F(DistributedReport, VerdictsFollowFromTheIntervals) {
  const auto with_intervals = [this](const char* update) {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open((folder_ / "results.db").c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, update, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close_v2(database);
    return markdown("cs336");
  };
  EXPECT_THAT(markdown("cs336"),
              AllOf(HasSubstr("one call per parameter after backward (without confidence intervals)"),
                    HasSubstr("cannot be judged without confidence intervals")));
  EXPECT_THAT(
      with_intervals("UPDATE statistic SET median_low_ns = median_ns - 1e5, median_high_ns = median_ns + 1e5"),
      AllOf(HasSubstr("one call per parameter after backward (20.0 % faster, outside the noise)"),
            HasSubstr("Without the exchange, the step takes 12.00\u00A0ms: the exchange adds 8 ms, outside the noise."),
            HasSubstr("Compared with no buckets: 15.6 % faster, outside the noise"),
            HasSubstr("Of the runs with buckets of one size, the fastest used 10 MiB."),
            HasSubstr("at worst, 4.29 ms for the 2 ms measured (buckets of 100 MiB), an error of 115 %")));
  EXPECT_THAT(with_intervals("UPDATE statistic SET median_high_ns = median_ns + 9e6"),
              AllOf(HasSubstr("one call per parameter after backward (within the noise)"),
                    HasSubstr("The difference from no buckets is within the noise"),
                    HasSubstr("the fastest used 10 MiB; within the noise of it: 100 MiB.")));
}

TEST_F(DistributedReport, QuickLookShowsRanksInEveryFormat) {
  const std::string text = markdown("quick");
  EXPECT_THAT(text, HasSubstr("13 runs exchanged tensors between processes"));
  EXPECT_THAT(text, HasSubstr("ddp_bucketed, 10 MiB"));
  const std::string report = (kSource / "reports" / "quick").string();
  EXPECT_GT(
      make_report(*database_, find_report(report), {folder_ / "all", {"latex", "typst", "html", "csv"}, {}}).size(),
      3u);
}

class AttentionReport : public ObservedReport {
 protected:
  AttentionReport() : ObservedReport("attention.sql") {}
};

TEST_F(AttentionReport, AssignmentSaysWhatTheLengthCosts) {
  const std::string text = markdown("cs336");
  EXPECT_THAT(text, HasSubstr("with batch size 8 and one head: 100 forward and backward"));
  EXPECT_THAT(text, HasSubstr("from sequence length 256 to 1024 (factor 4.00), memory before backward grows from "
                              "5.72\u00A0MiB to 45.8\u00A0MiB (factor 8.00)"));
  EXPECT_THAT(
      text,
      HasSubstr("flash, which keeps one value per query and recomputes them, uses 8.01\u00A0MiB at length 1024."));
  EXPECT_THAT(
      text,
      HasSubstr(
          "| fp32 | 16 | 32768 | out of memory | 40.0\u00A0GiB | out of memory | 32.0\u00A0GiB | 6.52\u00A0GiB |"));
  EXPECT_THAT(text, HasSubstr("figures/attention-memory.svg"));
}

TEST_F(AttentionReport, AssignmentAccountsForTheSmallestCaseThatRanOut) {
  const std::string text = markdown("cs336");
  EXPECT_THAT(text, HasSubstr("has head dimension 16 and sequence length 32768 (batch 8, fp32): backward requested "
                              "32.0\u00A0GiB with 6.52\u00A0GiB free"));
  EXPECT_THAT(text, HasSubstr("of these, 2 live at that moment, with 94.1\u00A0% of the memory in use"));
  EXPECT_THAT(text, HasSubstr("The longest case that fits has sequence length 4096"));
  EXPECT_THAT(text, HasSubstr("| softmax weights | `aten::_softmax` | `forward` | 1 | 32.0\u00A0GiB "
                              "| 32.0\u00A0GiB | 1.00 |"));
  EXPECT_THAT(text, HasSubstr("| failed request | – | `backward` | – | – | 32.0\u00A0GiB | 1.00 |"));
}

TEST_F(AttentionReport, AssignmentHoldsKernelsAgainstTheirPeersAndTheDevice) {
  const std::string text = markdown("cs336");
  EXPECT_THAT(text, HasSubstr("at least one block of queries per SM: flash in 1 shape."));
  EXPECT_THAT(text, HasSubstr("Fastest for shapes that leave SMs idle: LibTorch cuDNN in 1 shape."));
  EXPECT_THAT(text, HasSubstr("flash, kymo's kernel, compared with naive attention (shapes that both ran: 1)"));
  EXPECT_THAT(text, HasSubstr("both together 5.00 times as fast; it is faster in 1 of 1."));
  EXPECT_THAT(text,
              HasSubstr("The highest rate is 550\u00A0TFLOP/s in forward (flash, bf16, head dim 128, length 32768), "
                        "51.4\u00A0% of the device peak"));
  EXPECT_THAT(text, HasSubstr("| naive (ms) | flash (ms) | LibTorch efficient (ms) | LibTorch cuDNN (ms) | fastest |"));
  EXPECT_THAT(text, HasSubstr("| fp32, full | 1 × 128 | 128 | – | – | skipped | – | – | – |"));
  EXPECT_THAT(text, HasSubstr("| bf16, full | 1 × 128 | 32768 | 20.00 | 4.000 | – | 4.800 | flash | 1.20 |"));
  EXPECT_THAT(
      text, HasSubstr("| bf16, full | 1 × 128 | 32768 | 8.00000\u00A0±\u00A00.00100 | 1.00000\u00A0±\u00A00.00100 |"));
  EXPECT_THAT(text, HasSubstr("| NVIDIA H100 80GB HBM3 | bf16 | 132 | 4096 | 1980 | 1071 |"));
  EXPECT_THAT(read_file(folder_ / "cs336" / "figures" / "flash-rate-bf16.svg"), HasSubstr("device peak"));
}

TEST_F(AttentionReport, AssignmentShowsANewImplementation) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ / "results.db").c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, "UPDATE run SET workload = 'w', title = 'sliding' WHERE workload = 'attention_sdpa'",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close_v2(database);
  EXPECT_THAT(markdown("cs336"),
              HasSubstr("| naive (ms) | flash (ms) | sliding efficient (ms) | sliding cuDNN (ms) |"));
}

TEST_F(AttentionReport, QuickLookPutsImplementationsSideBySide) {
  const std::string text = markdown("quick");
  EXPECT_THAT(text, HasSubstr("| naive | 8 × 1 × 16 | fp32 | causal | 4096 | `sync` | – | – | 586\u00A0MiB |"));
  EXPECT_THAT(text, HasSubstr("figures/attention-time.svg"));
}

TEST_F(ObservedReport, WhatWasNotObservedIsOneLine) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ / "results.db").c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(
                database,
                "DELETE FROM kernel_total; DELETE FROM memory_phase; DELETE FROM memory_point; DELETE FROM allocation",
                nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, "DELETE FROM run WHERE status = 'oom'", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close_v2(database);
  const std::string text = markdown("cs336");
  EXPECT_THAT(text, Not(HasSubstr("\n## Memory")));
  EXPECT_THAT(
      text,
      HasSubstr("\n- **Memory**: No memory records: `kymo suite run cs336 --filter '^memory'` adds this data.\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "### Question 16. Memory: largest allocations\n\n*Which are the largest allocations of a forward pass when "
          "only the largest tenth is shown, and where do they come from?*\n\n> [!NOTE]\n> Not in this "
          "database: `kymo suite run cs336 --filter '^memory'` adds this data.\n"));
}

/// Without what depends on the build: version, style sheet, scripts, and the compressed data of interactive charts.
std::string stable_text(std::string text) {
  static const std::vector<std::pair<std::regex, std::string>> kVarying{
      {std::regex("Generated by kymo [0-9.]+"), "Generated by kymo"},
      {std::regex("content=\"default-src[^\"]*\""), "content=\"\""}};
  for (const auto& [pattern, replacement] : kVarying) text = std::regex_replace(text, pattern, replacement);
  for (const std::string element : {"style", "script"}) {
    for (std::size_t at = 0; (at = text.find("<" + element, at)) != std::string::npos;) {
      const std::size_t begin = text.find('>', at) + 1;
      const std::size_t end = text.find("</" + element + ">", begin);
      text.erase(begin, end - begin);
      at = begin;
    }
  }
  return text;
}

/// A report of recorded runs in every format. KYMO_UPDATE_GOLDEN=1 writes the files in tests/golden/program; check the
/// difference before committing it.
TEST_F(ObservedReport, IsTheSameInEveryFormatAsBefore) {
  const std::string report = (kSource / "reports" / "program").string();
  const auto files = make_report(*database_, find_report(report),
                                 {folder_ / "all", {"markdown", "latex", "typst", "html", "csv"}, {}});
  const std::filesystem::path golden = kSource / "tests" / "golden" / "program";
  std::size_t compared = 0;
  for (const std::filesystem::path& file : files) {
    const std::filesystem::path expected = golden / file.lexically_relative(folder_ / "all");
    const std::string text = stable_text(read_file(file));
    if (std::getenv("KYMO_UPDATE_GOLDEN") != nullptr) {
      std::filesystem::create_directories(expected.parent_path());
      write_file(expected, text);
    }
    ASSERT_TRUE(std::filesystem::exists(expected)) << expected << " is missing";
    EXPECT_EQ(text, read_file(expected)) << expected;
    ++compared;
  }
  EXPECT_GT(compared, 8);
}

/// Of the runs in the database, the newest with measured steps: the phases of one run, not of several.
TEST_F(ObservedReport, ProgramShowsPhasesOfTheNewestRun) {
  const std::string text = markdown("program");
  EXPECT_THAT(text, HasSubstr("Run 16, transformer_lm, case=memory, context=256, mode=forward, device=cuda: 1 measured "
                              "step of 0.003000\u00A0ms on A GPU on h, from the pass `memory`. This pass records"));
  EXPECT_THAT(text, HasSubstr("| `step` | 3.000\u00A0µs | 100.0 |"));
  EXPECT_THAT(text, HasSubstr("| `step` | 1.95\u00A0KiB | 1000\u00A0B |"));
}

}  // namespace
}  // namespace kymo::report
