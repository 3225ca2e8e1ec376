// SPDX-License-Identifier: Apache-2.0
#include "store/open.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/error.hpp"
#include "report/run_selection.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;
using Mode = ResultsDatabase::Mode;

class OpenTest : public StoreTest {
 protected:
  /// Opening must fail with `message` in every mode and leave the file unchanged.
  void expect_rejected(const std::string& name, const std::string& message) {
    const std::string before = content_of(path(name));
    for (const Mode mode : {Mode::kReadOnly, Mode::kReadWrite, Mode::kCreate}) {
      EXPECT_THAT(error_of([&] { ResultsDatabase(path(name), mode); }), AllOf(HasSubstr(name), HasSubstr(message)));
      EXPECT_EQ(content_of(path(name)), before);
      EXPECT_FALSE(std::filesystem::exists(path(name + "-journal")));
    }
  }
};

TEST_F(OpenTest, MissingFileIsMadeOnlyWhenAsked) {
  EXPECT_THAT(error_of([&] { ResultsDatabase(path("a.db"), Mode::kReadOnly); }), HasSubstr("no such file"));
  EXPECT_THAT(error_of([&] { ResultsDatabase(path("a.db"), Mode::kReadWrite); }), HasSubstr("no such file"));
  EXPECT_FALSE(std::filesystem::exists(path("a.db")));
  EXPECT_THAT(error_of([&] { ResultsDatabase(path("no") / "a.db", Mode::kCreate); }),
              HasSubstr("directory does not exist"));
  ResultsDatabase(path("a.db"), Mode::kCreate);
  const ResultsDatabase again(path("a.db"), Mode::kReadOnly);
  EXPECT_EQ(ask(again, "SELECT value FROM meta WHERE key = 'schema_version'"), std::to_string(own_schema().version()));
  EXPECT_EQ(again.file(), path("a.db"));
}

TEST_F(OpenTest, ReadersWaitForTheFirstWriter) {
  put_content(path("a.db"), "");
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ResultsDatabase(path("a.db"), Mode::kCreate).begin_invocation("x", {});
  });
  std::string error;
  try {
    ask(ResultsDatabase(path("a.db"), Mode::kReadOnly), "SELECT count(*) FROM invocation");
  } catch (const Error& caught) {
    error = caught.what();
  }
  writer.join();
  EXPECT_EQ(error, "");
}

TEST_F(OpenTest, EmptyFileCountsAsNewOnlyWhenMaking) {
  put_content(path("a.db"), "");
  std::filesystem::last_write_time(path("a.db"), std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_THAT(error_of([&] { ResultsDatabase(path("a.db"), Mode::kReadOnly); }), HasSubstr("is empty"));
  EXPECT_THAT(error_of([&] { ResultsDatabase(path("a.db"), Mode::kReadWrite); }), HasSubstr("is empty"));
  EXPECT_EQ(content_of(path("a.db")), "");
  ResultsDatabase(path("a.db"), Mode::kCreate).begin_invocation("x", {});
}

TEST_F(OpenTest, StrangeNamesAreFileNames) {
  for (const char* name : {":memory:", "file:x?mode=memory", "a b'\"%20.db", "é.db"}) {
    ResultsDatabase(path(name), Mode::kCreate).begin_invocation("x", {});
    EXPECT_EQ(ask(ResultsDatabase(path(name), Mode::kReadOnly), "SELECT count(*) FROM invocation"), "1");
  }
}

TEST_F(OpenTest, ForeignFilesAreRejected) {
  put_content(path("text"),
              "This is a text of more than one hundred bytes, which some user gave by mistake as the name of the "
              "results database.\n");
  expect_rejected("text", "not an SQLite database");
  put_content(path("short"), "SQLite format 3");
  expect_rejected("short", "not an SQLite database");
  tamper(path("other"), "CREATE TABLE run (x); INSERT INTO run VALUES (1)");
  expect_rejected("other", "not a results database of kymo");
  tamper(path("profile"), "PRAGMA application_id = 1234; CREATE TABLE t (x)");
  expect_rejected("profile", "not a results database of kymo");
  write_rank_file(path("rank"), 1, 0, measure::Pass::kTime, make_record());
  expect_rejected("rank", "not a results database of kymo");
}

TEST_F(OpenTest, FilesOfIncompatibleVersionsAreRejected) {
  const std::string message = "earlier, incompatible version of kymo";
  const auto set_id = [&](const std::string& name, std::int64_t id) {
    tamper(path(name), "PRAGMA application_id = " + std::to_string(id));
  };
  for (const std::int64_t id : kIncompatibleApplicationIds) {
    const std::string name = "old-" + std::to_string(id);
    make_database(path(name));
    set_id(name, id);
    expect_rejected(name, message);
    write_rank_file(path(name + "-rank"), 1, 0, measure::Pass::kTime, make_record());
    set_id(name + "-rank", id);
    EXPECT_THAT(error_of([&] { open_rank_file(path(name + "-rank"), own_schema()); }), HasSubstr(message));
  }
}

TEST_F(OpenTest, FoldersAndPipesAreRejected) {
  std::filesystem::create_directory(path("folder"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const char* name : {"folder", "pipe"}) {
    for (const Mode mode : {Mode::kReadOnly, Mode::kCreate}) {
      EXPECT_THAT(error_of([&] { ResultsDatabase(path(name), mode); }), HasSubstr("not a regular file"));
    }
  }
}

TEST_F(OpenTest, NewerIsRejectedUnlessCompatible) {
  make_database(path("a.db"));
  tamper(path("a.db"),
         "PRAGMA user_version = 900; UPDATE meta SET value = '900' WHERE key = 'schema_version'; "
         "UPDATE meta SET value = '99.0.0' WHERE key = 'kymo_version'");
  {
    const ResultsDatabase compatible(path("a.db"), Mode::kReadWrite);
    EXPECT_EQ(ask(compatible, "SELECT value FROM meta WHERE key = 'schema_version'"), "900");
  }
  tamper(path("a.db"), "UPDATE meta SET value = '899' WHERE key = 'compatible_version'");
  expect_rejected("a.db", "use the newer kymo");
}

TEST_F(OpenTest, MissingVersionIsDamage) {
  make_database(path("a.db"));
  tamper(path("a.db"), "DELETE FROM meta WHERE key = 'compatible_version'");
  expect_rejected("a.db", "damaged");
  make_database(path("b.db"));
  tamper(path("b.db"), "DROP TABLE meta");
  expect_rejected("b.db", "contains none of kymo's tables");
}

TEST_F(OpenTest, DamageIsRejected) {
  make_database(path("a.db"), 3);
  std::string bytes = content_of(path("a.db"));
  bytes.resize(bytes.size() / 2);
  put_content(path("a.db"), bytes);
  expect_rejected("a.db", "damaged");
}

TEST_F(OpenTest, UnknownWriteVersionIsDamageToAWriter) {
  make_database(path("a.db"));
  std::string bytes = content_of(path("a.db"));
  bytes[18] = 3;
  put_content(path("a.db"), bytes);
  for (const Mode mode : {Mode::kReadWrite, Mode::kCreate})
    EXPECT_THAT(error_of([&] { ResultsDatabase(path("a.db"), mode); }), HasSubstr("damaged"));
  EXPECT_EQ(ask(ResultsDatabase(path("a.db"), Mode::kReadOnly), "SELECT count(*) FROM run"), "1");
  EXPECT_TRUE(content_of(path("a.db")) == bytes);
}

TEST_F(OpenTest, WriteAheadLogIsSwitchedOffByAWriterAndExplainedToAReader) {
  make_database(path("a.db"));
  tamper(path("a.db"), "PRAGMA journal_mode = WAL");
  EXPECT_THAT(error_of([&] { ResultsDatabase(path("a.db"), Mode::kReadOnly); }), HasSubstr("journal_mode = DELETE"));
  ResultsDatabase(path("a.db"), Mode::kReadWrite).begin_invocation("x", {});
  EXPECT_EQ(ask(ResultsDatabase(path("a.db"), Mode::kReadOnly), "SELECT count(*) FROM invocation"), "2");
}

TEST_F(OpenTest, ReadOnlyFileAndFolderAreClearErrors) {
  if (::geteuid() != 0) GTEST_SKIP() << "changes the effective user to one who may not write";
  make_database(path("a.db"));
  std::filesystem::permissions(folder(), std::filesystem::perms(0555));
  ::chmod(path("a.db").c_str(), 0444);
  const auto as_nobody = [&](Mode mode, const std::string& expected) {
    return in_child([&] {
      if (::seteuid(65534) != 0) return 3;
      try {
        ResultsDatabase(path("a.db"), mode).running_runs();
      } catch (const Error& error) {
        return !expected.empty() && std::string(error.what()).find(expected) != std::string::npos ? 0 : 1;
      }
      return expected.empty() ? 0 : 2;
    });
  };
  EXPECT_EQ(as_nobody(Mode::kReadOnly, ""), 0);
  EXPECT_EQ(as_nobody(Mode::kReadWrite, "is not writable"), 0);
  EXPECT_EQ(as_nobody(Mode::kCreate, "is not writable"), 0);
  std::filesystem::permissions(folder(), std::filesystem::perms(0777));
  EXPECT_EQ(as_nobody(Mode::kReadWrite, "is not writable"), 0);
  ::chmod(path("a.db").c_str(), 0000);
  EXPECT_EQ(as_nobody(Mode::kReadOnly, "accessible"), 0);
}

/// All that sqlite_master says of a new database.
std::string new_database(const fs::path& file, const Schema& schema) {
  const Connection connection(file, Connection::Access::kCreate);
  migrate(connection, schema);
  std::string text = std::to_string(connection.integer("PRAGMA user_version")) + "\n";
  Statement entries(connection,
                    "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || ifnull(sql, '') FROM "
                    "main.sqlite_master ORDER BY rowid");
  while (entries.step()) text += entries.text(0) + "\n";
  return text;
}

TEST_F(OpenTest, NewDatabasesHaveTheTablesOfAllMigrations) {
  Schema migrated = own_schema();
  migrated.tables = "";
  migrated.tables_version = 0;
  EXPECT_EQ(new_database(path("new.db"), own_schema()), new_database(path("migrated.db"), migrated));
}

TEST_F(OpenTest, OlderSchemaIsMigratedByAWriterAndInACopyByAReader) {
  make_database(path("a.db"));
  Schema next = own_schema();
  next.migrations.push_back({"next.sql", "ALTER TABLE run ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue';"});
  next.views = {{"next.sql", "-- views\nCREATE VIEW colour AS SELECT run_id, colour FROM run;\n"}};
  next.views_digest = "next";
  next.tool_version = "99.0.0";
  const std::string before = content_of(path("a.db"));
  {
    const auto reader = open_results(path("a.db"), Mode::kReadOnly, next);
    EXPECT_EQ(reader->text("SELECT colour FROM colour"), "blue");
  }
  EXPECT_EQ(content_of(path("a.db")), before);
  tamper(path("a.db"), "CREATE VIEW mine AS SELECT 42 AS answer");
  {
    const auto writer = open_results(path("a.db"), Mode::kReadWrite, next);
    EXPECT_EQ(writer->text("SELECT colour FROM colour"), "blue");
    EXPECT_EQ(writer->integer("SELECT count(*) FROM sqlite_master WHERE type = 'view'"), 2)
        << "the tool's and the user's";
    EXPECT_EQ(meta_value(*writer, "kymo_version"), "99.0.0");
  }
  // This tool is now the older one; the schema permits it to continue, and its views are not installed.
  const ResultsDatabase older(path("a.db"), Mode::kReadWrite);
  EXPECT_EQ(ask(older, "SELECT colour FROM colour"), "blue");
}

TEST_F(OpenTest, ViewsFollowTheToolWithoutAMigration) {
  make_database(path("a.db"));
  Schema next = own_schema();
  next.views = {{"next.sql", "-- views\nCREATE VIEW run_list AS SELECT 'new' AS word;\n"}};
  next.views_digest = "next";
  const std::string before = content_of(path("a.db"));
  EXPECT_EQ(open_results(path("a.db"), Mode::kReadOnly, next)->text("SELECT word FROM run_list"), "new");
  EXPECT_EQ(content_of(path("a.db")), before);
  EXPECT_EQ(open_results(path("a.db"), Mode::kReadWrite, next)->text("SELECT word FROM run_list"), "new");
  EXPECT_EQ(open_results(path("a.db"), Mode::kReadWrite, next)
                ->integer("SELECT count(*) FROM sqlite_master WHERE type = 'view'"),
            1);
}

TEST_F(OpenTest, AlteredViewsAreReplaced) {
  make_database(path("a.db"));
  const char* const kColumns = "SELECT count(*) FROM pragma_table_info('run_warning') WHERE name = 'planted'";
  for (const char* alteration :
       {"DROP VIEW run_warning", "DROP VIEW run_warning; CREATE VIEW run_warning AS SELECT 1 AS planted",
        "DROP VIEW run_warning; CREATE TABLE planted (planted); "
        "CREATE VIEW run_warning AS SELECT planted FROM planted"}) {
    tamper(path("a.db"), alteration);
    const std::string before = content_of(path("a.db"));
    const auto reader = open_results(path("a.db"), Mode::kReadOnly, own_schema());
    EXPECT_EQ(reader->text(kColumns), "0") << alteration;
    EXPECT_EQ(reader->integer("SELECT count(*) FROM run_warning WHERE run_id < 0"), 0) << alteration;
    EXPECT_EQ(content_of(path("a.db")), before);
    EXPECT_EQ(open_results(path("a.db"), Mode::kReadWrite, own_schema())->text(kColumns), "0");
    EXPECT_EQ(
        open_results(path("a.db"), Mode::kReadOnly, own_schema())->integer("SELECT count(*) FROM temp.sqlite_master"),
        0)
        << "repaired in the file";
  }
}

TEST_F(OpenTest, TablesThatRunQueriesAreDamage) {
  for (const auto& [name, sql, kind] : std::initializer_list<std::array<const char*, 3>>{
           {"view.db",
            "ALTER TABLE sample RENAME TO samples; CREATE VIEW sample AS WITH RECURSIVE endless(x) AS (SELECT 1 UNION "
            "ALL SELECT x + 1 FROM endless) SELECT samples.* FROM samples, endless",
            "the table sample is a view"},
           {"virtual.db",
            "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 0, sql = "
            "'CREATE VIRTUAL TABLE metric USING dbstat' WHERE name = 'metric' AND type = 'table'",
            "the table metric is a view or a virtual table"},
           {"generated.db", "ALTER TABLE invocation ADD COLUMN slow AS (hex(zeroblob(1000000)))",
            "its table 'invocation' has generated columns"},
           {"generated_statistics.db",
            "ANALYZE; PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE TABLE sqlite_stat1(tbl, idx, "
            "stat AS (hex(zeroblob(1000000))))' WHERE name = 'sqlite_stat1'",
            "its table 'sqlite_stat1' has generated columns"},
           {"check.db", "CREATE TABLE mine (a CHECK (hex(zeroblob(1000000)) > a))", "its table 'mine' has a CHECK"},
           {"hidden_check.db",
            "CREATE TABLE mine (a); PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = "
            "'CREATE TABLE mine(a \xEF\xBB\xBF"
            "CHECK (a > 0))' WHERE name = 'mine'",
            "its table 'mine' has an invisible character"},
           {"default.db", "CREATE TABLE mine (a DEFAULT (hex(zeroblob(1000000))))",
            "its table 'mine' has a default value"},
           {"index.db", "CREATE INDEX mine ON run (hex(label))", "its index 'mine' has a condition or an expression"},
           {"sum.db", "CREATE INDEX mine ON run (ranks + 1)", "its index 'mine' has an expression"},
           {"partial.db", "CREATE INDEX mine ON run (label) WHERE label > 'a'", "its index 'mine' has a condition"},
           {"fts.db", "CREATE VIRTUAL TABLE mine USING fts5(a)", "it contains a virtual table"},
           {"column.db", "ALTER TABLE run ADD COLUMN mine TEXT",
            "its schema is not the one that kymo created (table run)"},
           {"missing.db", "DROP TABLE metric", "it lacks the table metric"},
           {"newer.db",
            "PRAGMA user_version = 99; UPDATE meta SET value = 99 WHERE key = 'schema_version'; "
            "CREATE TABLE mine (a CHECK (hex(zeroblob(1000000)) > a))",
            "its table 'mine' has a CHECK"}}) {
    make_database(path(name));
    tamper(path(name), std::string("PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; ") + sql);
    expect_rejected(name, kind);
  }
}

TEST_F(OpenTest, ObjectsOfUsersWithoutExpressionsAreAccepted) {
  make_database(path("a.db"));
  tamper(path("a.db"),
         "CREATE TABLE mine (a INTEGER DEFAULT 1, b TEXT NOT NULL UNIQUE); CREATE INDEX of_mine ON run (label COLLATE "
         "NOCASE, ranks DESC); CREATE VIEW seen AS SELECT hex(b) FROM mine WHERE a > 1; ANALYZE");
  for (const Mode mode : {Mode::kReadOnly, Mode::kReadWrite})
    EXPECT_EQ(ask(ResultsDatabase(path("a.db"), mode), "SELECT count(*) FROM run"), "1");
}

TEST_F(OpenTest, OnlyTheViewOfAStatementIsCopied) {
  make_database(path("a.db"), 4);
  tamper(path("a.db"),
         "CREATE VIEW mine AS SELECT 1; PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = sql || '; COMMIT; "
         "VACUUM INTO ''" +
             path("written.db").string() + "''' WHERE name = 'mine'");
  ResultsDatabase database(path("a.db"), Mode::kReadOnly);
  report::RunSelection runs(database);
  runs.select({});
  runs.evaluate_once({"SELECT * FROM mine"});
  EXPECT_FALSE(fs::exists(path("written.db")));
}

TEST_F(OpenTest, LargerValuesThanKymoStoresAreDamage) {
  make_database(path("a.db"));
  tamper(path("a.db"), "UPDATE run SET label = hex(zeroblob(5000000))");
  EXPECT_THAT(error_of([&] { ask(ResultsDatabase(path("a.db"), Mode::kReadOnly), "SELECT label FROM run"); }),
              AllOf(HasSubstr("a.db"), HasSubstr("it contains a larger value than kymo stores")));
}

TEST_F(OpenTest, TriggersInAPreparedFileDoNothing) {
  make_database(path("a.db"));
  tamper(path("a.db"), "CREATE TRIGGER evil AFTER INSERT ON invocation BEGIN DELETE FROM run; END");
  ResultsDatabase database(path("a.db"), Mode::kReadWrite);
  database.begin_invocation("x", {});
  EXPECT_EQ(ask(database, "SELECT count(*) FROM run"), "1");
}

}  // namespace
}  // namespace kymo::store::testing
