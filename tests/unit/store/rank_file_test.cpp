// SPDX-License-Identifier: Apache-2.0
#include "store/rank_file.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "store/open.hpp"
#include "store/rank_import.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using ::testing::HasSubstr;

class RankFile : public StoreTest {};

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

TEST_F(RankFile, AppearsCompleteAndAlone) {
  const auto file = path("RUN-7-1-memory.kymo");
  write_rank_file(file, 7, 1, measure::Pass::kMemory, make_record());
  EXPECT_EQ(files_in(folder()), 1u);
  const auto connection = open_rank_file(file, own_schema());
  EXPECT_EQ(connection->integer("SELECT count(*) FROM sample WHERE run_id = 7 AND rank = 1 AND pass = 'memory'"), 24);
  EXPECT_EQ(
      connection->text(
          "SELECT group_concat(step || ':' || time_ns || ':' || allocated_bytes || ':' || reserved_bytes || ':' || "
          "device_allocations, ' ') "
          "FROM memory_counter WHERE run_id = 7 AND rank = 1 AND pass = 'memory'"),
      "-1:20:100:200:1 0:30:150:400:3");
  EXPECT_EQ(connection->text("PRAGMA integrity_check"), "ok");
}

TEST_F(RankFile, ManyRowsComeBackInOrder) {
  event::PassRecord record;
  for (std::int64_t step = 0; step < 5'123; ++step) {
    event::Sample sample;
    sample.step = step;
    sample.phase = event::kWholeStep;
    sample.host_ns = step * step;
    record.samples.push_back(sample);
  }
  write_rank_file(path("many"), 1, 0, measure::Pass::kTime, record);
  const auto connection = open_rank_file(path("many"), own_schema());
  EXPECT_EQ(connection->integer("SELECT count(*) FROM sample WHERE host_ns = step * step"), 5'123);
  EXPECT_EQ(connection->integer("SELECT max(step) FROM sample"), 5'122);
}

TEST_F(RankFile, RepeatedKeysAreDroppedRecords) {
  event::PassRecord record = make_record(3);
  record.samples.push_back(record.samples[0]);
  record.samples.push_back(record.samples[0]);
  write_rank_file(path("twice"), 1, 0, measure::Pass::kTime, record);
  const auto connection = open_rank_file(path("twice"), own_schema());
  EXPECT_EQ(connection->integer("SELECT count(*) FROM sample"), 6);
  EXPECT_EQ(connection->integer("SELECT count FROM dropped_record WHERE source = 'store'"), 2);
}

TEST_F(RankFile, ReplacesAnOlderOne) {
  write_rank_file(path("again"), 1, 0, measure::Pass::kTime, make_record(12));
  write_rank_file(path("again"), 2, 0, measure::Pass::kTime, make_record(3));
  EXPECT_EQ(open_rank_file(path("again"), own_schema())->integer("SELECT max(run_id) * 100 + count(*) FROM sample"),
            206);
}

TEST_F(RankFile, EmptyRecordIsAFileToo) {
  write_rank_file(path("empty"), 1, 0, measure::Pass::kVerify, {});
  const auto connection = open_rank_file(path("empty"), own_schema());
  EXPECT_EQ(connection->integer("SELECT count(*) FROM rank WHERE device_id IS NULL AND resident_peak_bytes IS NULL"),
            1);
}

TEST_F(RankFile, FolderThatCannotBeWrittenIsAnErrorAndLeavesNothing) {
  EXPECT_THAT(error_of([&] { write_rank_file(path("nowhere") / "x.kymo", 1, 0, measure::Pass::kTime, make_record()); }),
              HasSubstr("nowhere"));
  std::filesystem::create_directory(path("taken"));
  EXPECT_THAT(error_of([&] { write_rank_file(path("taken"), 1, 0, measure::Pass::kTime, make_record()); }),
              HasSubstr("could not be renamed into place"));
  EXPECT_EQ(files_in(folder()), 1u);
}

TEST_F(RankFile, ResultsDatabaseIsNoRankFile) {
  make_database(path("a.db"), 0);
  EXPECT_THAT(error_of([&] { open_rank_file(path("a.db"), own_schema()); }), HasSubstr("not a rank file"));
}

TEST(RankFileName, IsParsedStrictly) {
  const auto name = parse_rank_file_name("/x/RUN-12-3-verify.kymo");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->run_id, 12);
  EXPECT_EQ(name->rank, 3);
  EXPECT_EQ(name->pass, "verify");
  for (const char* wrong :
       {"RUN-12-3-verify", "RUN-12-3.kymo", "RUN--1-3-time.kymo", "RUN-1x-3-time.kymo", "RUN-1-3-nonsense.kymo",
        "run-1-3-time.kymo", "RUN-1-3-time-4.kymo", "RUN-99999999999999999999-0-time.kymo", ".kymo", ""}) {
    EXPECT_FALSE(parse_rank_file_name(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace kymo::store::testing
