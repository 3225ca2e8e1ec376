// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>

#include "base/error.hpp"
#include "report/run_selection.hpp"
#include "store/open.hpp"
#include "store/results.hpp"
#include "unit/store/event_record.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using Mode = ResultsDatabase::Mode;

class Damage : public StoreTest {};

/// Reads every view and table as a report would; false if the file was rejected.
bool read_through(const std::filesystem::path& file) {
  try {
    ResultsDatabase database(file, Mode::kReadOnly);
    report::RunSelection runs(database);
    runs.select({});
    for (const char* view :
         {"run_list", "phase_time", "throughput", "warmup_steps", "failures", "worker_memory", "device_clock", "oom"}) {
      database.query(std::string("SELECT * FROM ") + view + " WHERE run_id IN (SELECT run_id FROM selected_run)");
    }
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return false;
  }
  return true;
}

TEST_F(Damage, FlippedBytesAreRejectedOrHarmlessAndNeverWritten) {
  make_database(path("good.db"), 4);
  const std::string good = content_of(path("good.db"));
  std::mt19937 random(20'24);
  const int count = damaged_copies(300);
  int rejected = 0;
  for (int i = 0; i < count; ++i) {
    std::string bytes = good;
    // A quarter of the flipped bytes are in the header and the schema, where they do the most damage.
    const std::size_t range = i % 4 == 0 ? 8192 : bytes.size();
    const std::size_t at = std::uniform_int_distribution<std::size_t>(0, range - 1)(random);
    bytes[at] = static_cast<char>(bytes[at] ^ std::uniform_int_distribution<int>(1, 255)(random));
    put_content(path("flipped.db"), bytes);
    rejected += read_through(path("flipped.db")) ? 0 : 1;
    ASSERT_EQ(content_of(path("flipped.db")), bytes) << "flip at " << at << " was written to";
    ASSERT_FALSE(std::filesystem::exists(path("flipped.db-journal")));
    ASSERT_FALSE(std::filesystem::exists(path("flipped.db-wal")));
  }
  EXPECT_GT(rejected, 0);
  EXPECT_LT(rejected, count);
}

TEST_F(Damage, TruncatedRankFilesAreDroppedRecordsAndTheRestStays) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  const std::int64_t run_id = database.begin_run(make_run(database.begin_invocation("x", {})));
  const auto time = rank_file_name(folder(), run_id, 0, measure::Pass::kTime);
  const auto trace = rank_file_name(folder(), run_id, 0, measure::Pass::kTrace);
  write_rank_file(time, run_id, 0, measure::Pass::kTime, make_record());
  event::PassRecord record = make_event_record();
  record.trace.activities.resize(
      300'000, record.trace.activities.front());  // above the size up to which files are checked on open
  write_rank_file(trace, run_id, 0, measure::Pass::kTrace, record);
  const std::string whole = content_of(trace);
  ASSERT_GT(whole.size(), 8u << 20);
  for (const std::size_t left :
       {whole.size() - 16'384, whole.size() / 2, std::size_t{40'000}, std::size_t{100}, std::size_t{0}}) {
    put_content(trace, whole.substr(0, left));
    database.finalize_run(run_id, Outcome{}, {}, {time, trace});
    EXPECT_EQ(ask(database, "SELECT count(*), (SELECT count(*) FROM kernel), (SELECT count(*) FROM rank) FROM sample"),
              "24|0|1")
        << left;
    EXPECT_EQ(ask(database, "SELECT rank, pass, source, count FROM dropped_record"), "0|trace|store|-1") << left;
  }
}

TEST_F(Damage, FlippedBytesOfEventsAreImportedOrLost) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  const std::int64_t run_id = database.begin_run(make_run(database.begin_invocation("x", {})));
  const auto file = rank_file_name(folder(), run_id, 0, measure::Pass::kTrace);
  write_rank_file(file, run_id, 0, measure::Pass::kTrace, make_event_record());
  const std::string good = content_of(file);
  std::mt19937 random(11);
  for (int i = 0, count = damaged_copies(300); i < count; ++i) {
    std::string bytes = good;
    const std::size_t at = std::uniform_int_distribution<std::size_t>(0, bytes.size() - 1)(random);
    bytes[at] = static_cast<char>(bytes[at] ^ std::uniform_int_distribution<int>(1, 255)(random));
    put_content(file, bytes);
    database.finalize_run(run_id, Outcome{}, {}, {file}, i % 2 == 0 ? Keep::kAll : Keep::kOneStep);
    EXPECT_NE(ask(database, "SELECT (SELECT count(*) FROM sample) + (SELECT count(*) FROM dropped_record)"), "0");
  }
  EXPECT_EQ(Connection(path("a.db"), Connection::Access::kReadOnly).text("PRAGMA integrity_check"), "ok");
}

TEST_F(Damage, ARankFileWithoutAColumnOfItsSchemaIsADroppedRecord) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  const std::int64_t run_id = database.begin_run(make_run(database.begin_invocation("x", {})));
  const auto file = rank_file_name(folder(), run_id, 0, measure::Pass::kTime);
  write_rank_file(file, run_id, 0, measure::Pass::kTime, make_record());
  tamper(file, "ALTER TABLE sample RENAME COLUMN throttled TO throttlxd");
  database.finalize_run(run_id, Outcome{}, {}, {file});
  EXPECT_EQ(ask(database, "SELECT count(*) FROM sample"), "0");
  EXPECT_EQ(ask(database, "SELECT count(*) FROM dropped_record WHERE detail LIKE '%its table sample lacks columns%'"),
            "1");
}

TEST_F(Damage, ASchemaThatKymoDidNotWriteIsDamage) {
  {
    ResultsDatabase database(path("a.db"), Mode::kCreate);
    database.begin_run(make_run(database.begin_invocation("x", {})));
  }
  tamper(path("a.db"),
         "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'label TEXT', 'lxbel TEXT') "
         "WHERE name = 'run'");
  const auto write = [&] {
    ResultsDatabase database(path("a.db"), Mode::kReadWrite);
    database.begin_run(make_run(database.begin_invocation("x", {})));
  };
  EXPECT_THAT(error_of(write), ::testing::HasSubstr("the file is damaged: its schema is not the one"));
}

TEST_F(Damage, AViewUnderAnotherSpellingIsDamage) {
  {
    ResultsDatabase database(path("a.db"), Mode::kCreate);
    for (int i = 0; i < 3; ++i) database.begin_run(make_run(database.begin_invocation("x", {})));
  }
  tamper(path("a.db"),
         "PRAGMA writable_schema = ON; UPDATE sqlite_master SET name = 'Run_list', tbl_name = 'Run_list' WHERE name = "
         "'run_list'");
  const auto read = [&] {
    ResultsDatabase database(path("a.db"), Mode::kReadOnly);
    report::RunSelection runs(database);
    runs.select({});
    runs.hide_history(true);
  };
  EXPECT_THAT(error_of(read), ::testing::HasSubstr("its schema is not the one that kymo created"));
}

TEST_F(Damage, ARankFileWithoutItsTableOfDevicesIsADroppedRecord) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  const std::int64_t run_id = database.begin_run(make_run(database.begin_invocation("x", {})));
  const auto file = rank_file_name(folder(), run_id, 0, measure::Pass::kTime);
  for (const char* damage : {"PRAGMA foreign_keys = OFF; DROP TABLE device",
                             "PRAGMA legacy_alter_table = ON; ALTER TABLE device RENAME COLUMN device_id TO other"}) {
    write_rank_file(file, run_id, 0, measure::Pass::kTime, make_record());
    tamper(file, damage);
    database.finalize_run(run_id, Outcome{}, {}, {file});
    EXPECT_EQ(ask(database, "SELECT count(*) FROM sample"), "0");
    EXPECT_EQ(ask(database, "SELECT count(*) FROM dropped_record WHERE detail LIKE '%it has no table of devices%'"),
              "1");
  }
}

TEST_F(Damage, FlippedRankFilesAreImportedOrLost) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  const std::int64_t invocation = database.begin_invocation("x", {});
  const std::int64_t run_id = database.begin_run(make_run(invocation));
  const auto file = rank_file_name(folder(), run_id, 0, measure::Pass::kTime);
  write_rank_file(file, run_id, 0, measure::Pass::kTime, make_record());
  const std::string good = content_of(file);
  std::mt19937 random(7);
  for (int i = 0, count = damaged_copies(200); i < count; ++i) {
    std::string bytes = good;
    const std::size_t at = std::uniform_int_distribution<std::size_t>(0, i % 4 == 0 ? 4095 : bytes.size() - 1)(random);
    bytes[at] = static_cast<char>(bytes[at] ^ 0xff);
    put_content(file, bytes);
    database.finalize_run(run_id, Outcome{}, {}, {file});
    const std::string rows = ask(
        database, "SELECT (SELECT count(*) FROM sample), (SELECT count(*) FROM dropped_record WHERE source = 'store')");
    EXPECT_TRUE(rows == "24|0" || rows == "0|1" || rows.substr(rows.size() - 2) == "|0") << rows;
  }
  EXPECT_EQ(Connection(path("a.db"), Connection::Access::kReadOnly).text("PRAGMA integrity_check"), "ok");
}

}  // namespace
}  // namespace kymo::store::testing
