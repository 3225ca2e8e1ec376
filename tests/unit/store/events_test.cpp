// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <set>

#include "base/error.hpp"
#include "store/copy_rows.hpp"
#include "store/open.hpp"
#include "store/rank_import.hpp"
#include "store/schema_version.hpp"
#include "unit/store/event_record.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using ::testing::HasSubstr;
using Mode = ResultsDatabase::Mode;
using Pass = measure::Pass;

class Events : public StoreTest {
 protected:
  std::filesystem::path write(std::int64_t run_id, int rank, Pass pass, const event::PassRecord& record) {
    const auto file = rank_file_name(folder(), run_id, rank, pass);
    write_rank_file(file, run_id, rank, pass, record);
    return file;
  }
  /// A run whose rank files already exist.
  static std::int64_t begin(ResultsDatabase& database) {
    return database.begin_run(make_run(database.begin_invocation("kymo run", {})));
  }

  static std::string rows_of(const ResultsDatabase& database, const TableContent& content, const std::string& where) {
    return ask(database, "SELECT " + content.columns + " FROM " + content.table + " t WHERE " + where);
  }
  static void expect_everything(const ResultsDatabase& database, const std::string& where) {
    for (const TableContent& content : event_contents())
      EXPECT_EQ(rows_of(database, content, where), content.expected) << content.table;
  }
};

TEST_F(Events, EveryTableComesBackFromARun) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  const std::int64_t run_id = begin(database);
  database.finalize_run(run_id, Outcome{}, {}, {write(run_id, 0, Pass::kTrace, make_event_record())});
  EXPECT_EQ(ask(database, "SELECT launch_config, op_work FROM kernel_total"), "3|7;NULL|NULL");
  expect_everything(database, "run_id = 1 AND rank = 0 AND pass = 'trace'");
  EXPECT_EQ(ask(database, "SELECT trace_status FROM rank"), "events only");
  EXPECT_EQ(ask(database, "SELECT short_name, class, text FROM kernel_class JOIN string ON string_id = name_id"),
            "kernel|matmul|" + kHostileName);
  EXPECT_EQ(ask(database, "SELECT module, depth, text FROM scope_path JOIN string ON string_id = scope_id"),
            "block/attention|2|block_0/attention");
  EXPECT_EQ(ask(database,
                "SELECT n.text, p.text, h.step, h.calls, h.value FROM hardware_count h JOIN string n ON "
                "n.string_id = h.name_id LEFT JOIN string p ON p.string_id = h.phase_id ORDER BY h.sequence"),
            "dram__bytes_read.sum|NULL|2|1|2.5;dram__bytes_read.sum|backward|2|2|1.5");
  EXPECT_EQ(ask(database, "SELECT count(*) FROM dropped_record"), "0");
  EXPECT_EQ(ask(database, "SELECT keep FROM run"), "all");
}

TEST_F(Events, OnlyTextsInUseAreWritten) {
  const auto file = write(1, 0, Pass::kTrace, make_event_record());
  const auto source = open_rank_file(file, own_schema());
  EXPECT_EQ(source->integer("SELECT count(*) FROM string WHERE text LIKE 'a text that%' OR text = '(unknown)'"), 0);
  EXPECT_EQ(source->integer("SELECT count(*) FROM string WHERE text = 'aten::mm'"), 1);
}

TEST_F(Events, TextsOfTwoFilesWithOtherNumbersMeet) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  const std::int64_t run_id = begin(database);
  const auto first = write(run_id, 0, Pass::kTrace, make_event_record());
  const auto second =
      write(run_id, 1, Pass::kTrace, make_event_record({"memset", "aten::mm", "forward", "of its own"}));
  const std::string number = "SELECT string_id FROM string WHERE text = 'aten::mm'";
  ASSERT_NE(open_rank_file(first, own_schema())->integer(number),
            open_rank_file(second, own_schema())->integer(number));
  database.finalize_run(run_id, Outcome{}, {}, {second, first});
  expect_everything(database, "rank = 0");
  expect_everything(database, "rank = 1");
  EXPECT_EQ(ask(database, "SELECT count(*) - count(DISTINCT text) FROM string"), "0");
  EXPECT_EQ(ask(database, "SELECT count(DISTINCT name_id) FROM op WHERE sequence = 0"), "1");
  EXPECT_EQ(ask(database, "SELECT count(*) FROM kernel_class"), "1");
}

TEST_F(Events, NamesThatAreNoTextStayReadable) {
  event::PassRecord record = make_record(3);
  event::Activity kernel;
  kernel.name = record.trace.texts.intern("bad \xff byte");
  record.trace.activities.push_back(kernel);
  kernel.name = record.trace.texts.intern("bad \xfe byte");  // the same after sanitizing
  record.trace.activities.push_back(kernel);
  kernel.name = 4711;  // no such text
  kernel.scope = 4712;
  kernel.phase = 12;
  record.trace.activities.push_back(kernel);
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  const std::int64_t run_id = begin(database);
  database.finalize_run(run_id, Outcome{}, {}, {write(run_id, 0, Pass::kTrace, record)});
  const std::string bad = "bad \xEF\xBF\xBD byte";
  EXPECT_EQ(
      ask(database,
          "SELECT text, scope_id IS NULL, phase_id FROM kernel JOIN string ON string_id = name_id ORDER BY sequence"),
      bad + "|1|NULL;" + bad + "|1|NULL;(unknown)|0|NULL");
}

TEST_F(Events, NewerClassesReplaceOlderOnes) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  event::PassRecord record = make_event_record();
  for (const char* known_as : {"other", "attention"}) {
    record.derived.kernel_classes[0].kernel_class = known_as;
    const std::int64_t run_id = begin(database);
    database.finalize_run(run_id, Outcome{}, {}, {write(run_id, 0, Pass::kTrace, record)});
  }
  EXPECT_EQ(ask(database, "SELECT class FROM kernel_class"), "attention");

  ResultsDatabase other(path("b.db"), Mode::kCreate);
  record.derived.kernel_classes[0].kernel_class = "softmax";
  const std::int64_t run_id = begin(other);
  other.finalize_run(run_id, Outcome{}, {}, {write(run_id, 0, Pass::kTrace, record)});
  EXPECT_EQ(database.merge(path("b.db")).runs_added, 1);
  EXPECT_EQ(ask(database, "SELECT class FROM kernel_class"), "attention") << "the same version knows no better";
  tamper(path("b.db"), "UPDATE meta SET value = '9.0.0' WHERE key = 'kymo_version'");
  EXPECT_EQ(database.merge(path("b.db")).runs_added, 0);
  EXPECT_EQ(ask(database, "SELECT class FROM kernel_class"), "softmax");
}

TEST_F(Events, MergingKeepsEveryTableAndDoingItAgainChangesNothing) {
  ResultsDatabase a(path("a.db"), Mode::kCreate);
  const std::int64_t before = begin(a);
  a.finalize_run(before, Outcome{}, {}, {write(before, 0, Pass::kTrace, make_event_record({"forward", "of its own"}))});
  {
    ResultsDatabase b(path("b.db"), Mode::kCreate);
    const std::int64_t run_id = begin(b);
    b.finalize_run(run_id, Outcome{}, {},
                   {write(run_id, 0, Pass::kTrace, make_event_record()),
                    write(run_id, 0, Pass::kOps, make_event_record({"memset"})),
                    write(run_id, 1, Pass::kTrace, make_event_record({"load"}))});
  }
  EXPECT_EQ(a.merge(path("b.db")).runs_added, 1);
  for (const char* where : {"run_id = 1", "run_id = 2 AND rank = 0 AND pass = 'trace'",
                            "run_id = 2 AND rank = 0 AND pass = 'ops'", "run_id = 2 AND rank = 1 AND pass = 'trace'"})
    expect_everything(a, where);
  EXPECT_EQ(ask(a, "SELECT count(*) FROM dropped_record"), "0");
  std::string counts = "SELECT 0";
  for (const char* table : {"string", "kernel_class", "scope_path"})
    counts += std::string(", (SELECT count(*) FROM ") + table + ")";
  for (const TableContent& content : event_contents()) counts += ", (SELECT count(*) FROM " + content.table + ")";
  const std::string once = ask(a, counts);
  EXPECT_EQ(a.merge(path("b.db")).runs_already_there, 1);
  EXPECT_EQ(ask(a, counts), once);
}

TEST_F(Events, MissingTextsAreDroppedRecordsAndNoCrash) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  const std::int64_t run_id = begin(database);
  const auto file = write(run_id, 0, Pass::kTrace, make_event_record());
  tamper(file, "DELETE FROM string WHERE text IN ('block_0/attention', 'memset')");
  database.finalize_run(run_id, Outcome{}, {}, {file});
  EXPECT_EQ(ask(database, "SELECT count(*) FROM memset"), "0") << "it has no name";
  EXPECT_EQ(ask(database, "SELECT scope_id FROM kernel WHERE sequence = 0"), "NULL");
  EXPECT_EQ(ask(database, "SELECT count(*) FROM scope_path"), "0");
  // memset; range, kernel, op, collective, kernel_total, op_total, idle_total, kernel_outlier, allocation, saved_tensor
  // and hardware_count each have one unresolvable scope.
  EXPECT_EQ(ask(database, "SELECT count, detail FROM dropped_record"), "12|" + std::string(kUnknownTexts));

  tamper(path("a.db"), "UPDATE gpu_activity SET name_id = 9999 WHERE launch_config IS NOT NULL");
  ResultsDatabase merged(path("b.db"), Mode::kCreate);
  EXPECT_EQ(merged.merge(path("a.db")).runs_added, 1);
  EXPECT_EQ(ask(merged, "SELECT count(*) FROM kernel"), "0");
  EXPECT_EQ(ask(merged, "SELECT count FROM dropped_record WHERE rank = -1"), "2");
}

TEST_F(Events, RanksThatAreNoNumbersAreMergedAsTheyAre) {
  {
    ResultsDatabase database(path("a.db"), Mode::kCreate);
    const std::int64_t run_id = begin(database);
    database.finalize_run(run_id, Outcome{}, {}, {write(run_id, 0, Pass::kTrace, make_event_record())});
  }
  tamper(path("a.db"),
         "UPDATE gpu_activity SET rank = 'x' WHERE sequence = 3; UPDATE op SET rank = 0.5 WHERE sequence = 1");
  ResultsDatabase merged(path("b.db"), Mode::kCreate);
  EXPECT_EQ(merged.merge(path("a.db")).runs_added, 1);
  EXPECT_EQ(ask(merged, "SELECT rank, sequence FROM kernel ORDER BY sequence"), "0|0;x|3");
  EXPECT_EQ(ask(merged, "SELECT rank, sequence FROM op ORDER BY sequence"), "0|0;0.5|1");
}

TEST_F(Events, StrangeRowsOfARankFileDoNoHarm) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  const std::int64_t run_id = begin(database);
  const auto file = write(run_id, 0, Pass::kTrace, make_event_record());
  tamper(file,
         "UPDATE string SET string_id = -9223372036854775807 WHERE text = 'memset'; "
         "UPDATE gpu_activity SET name_id = -9223372036854775807 WHERE sequence = 2; "
         "UPDATE string SET text = CAST(x'61ff' AS TEXT) WHERE text = 'load'; "
         "UPDATE gpu_activity SET name_id = 'x', attribution = CAST(x'fe' AS TEXT) WHERE sequence = 3; "
         "INSERT INTO gpu_activity SELECT 55, rank, pass, sequence, name_id, start_ns, end_ns, stream, correlation_id, "
         "step, phase_id, scope_id, attribution, launch_config, graph_node, op, bytes, stack FROM gpu_activity "
         "WHERE launch_config IS NOT NULL");
  database.finalize_run(run_id, Outcome{}, {}, {file});
  EXPECT_EQ(ask(database, "SELECT text FROM memset JOIN string ON string_id = name_id"), "memset");
  EXPECT_EQ(ask(database, "SELECT run_id, sequence FROM kernel"), "1|0");
  EXPECT_EQ(ask(database, "SELECT text FROM range JOIN string ON string_id = name_id WHERE step = -1"),
            "a\xEF\xBF\xBD");
}

TEST_F(Events, RankFilesOfAnEarlierSchemaVersionAreMigratedAndImported) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  const std::int64_t run_id = begin(database);
  const auto file = rank_file_name(folder(), run_id, 0, Pass::kTime);
  {
    const Connection old(file, Connection::Access::kCreate);
    old.exec("PRAGMA application_id = " + std::to_string(kRankFileApplicationId));
    Schema first = own_schema();
    first.migrations.resize(1);
    migrate(old, first);
    old.exec(
        "INSERT INTO rank (run_id, rank, pass, pid, host, status, stdout, stderr) VALUES (1, 0, 'time', 0, '', '', '', "
        "''); "
        "INSERT INTO sample (run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns) "
        "VALUES (1, 0, 'time', 0, 'step', 0, 0, 1, 5, 77); "
        "INSERT INTO string VALUES (7, 'gemm'), (8, 'memset'); "
        "INSERT INTO kernel VALUES (1, 0, 'time', 0, 7, 10, 20, 1, 30, 2, NULL, NULL, 'launch', 3, NULL, 4); "
        "INSERT INTO memset VALUES (1, 0, 'time', 1, 8, 64, 40, 50, 1, 31, 2, NULL, NULL, 'none', NULL, NULL)");
  }
  const std::string before = content_of(file);
  database.finalize_run(run_id, Outcome{}, {}, {file});
  EXPECT_EQ(ask(database,
                "SELECT host_ns, (SELECT count(*) FROM dropped_record), (SELECT trace_status FROM rank) FROM sample"),
            "77|0|");
  EXPECT_EQ(ask(database,
                "SELECT text, start_ns, end_ns, launch_config, bytes, op FROM gpu_activity "
                "JOIN string ON string_id = name_id"),
            "gemm|10|20|3|NULL|4;memset|40|50|NULL|64|NULL");
  EXPECT_EQ(content_of(file), before);
}

TEST_F(Events, RankFilesOfAnEarlierSchemaVersionAreChecked) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  const std::int64_t run_id = begin(database);
  const auto file = write(run_id, 0, Pass::kTrace, make_event_record());
  tamper(file, "PRAGMA user_version = 1; UPDATE meta SET value = '1' WHERE key = 'schema_version'");
  database.finalize_run(run_id, Outcome{}, {}, {file});
  EXPECT_THAT(ask(database, "SELECT detail FROM dropped_record"), ::testing::HasSubstr("the file is damaged"));
}

std::vector<std::string> declared_columns(const Table& table) {
  std::vector<std::string> names;
  if (table.owner() != RowOwner::kString) names = {"run_id", "rank"};
  if (table.owner() == RowOwner::kPass) names.emplace_back("pass");
  for (const auto& column : table.columns()) names.push_back(column.name);
  return names;
}

TEST_F(Events, DeclaredTablesAreThoseOfTheSchema) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  for (const auto& table : observed_tables()) {
    std::vector<std::string> columns;
    for (const auto& row :
         database.query("SELECT name FROM pragma_table_info(:table)", {{"table", table->name()}}).rows)
      columns.push_back(row[0].text);
    EXPECT_THAT(declared_columns(*table), ::testing::UnorderedElementsAreArray(columns)) << table->name();
  }
}

/// Otherwise, the ids of another database would be copied as if they were valid in every file.
TEST_F(Events, IdsOfStringsAreDeclaredAsSuch) {
  for (const auto& table : observed_tables()) {
    for (const auto& column : table->columns()) {
      const bool is_id = column.name.ends_with("_id") && column.name != "correlation_id";
      EXPECT_EQ(column.refers_to_string, is_id) << table->name() << "." << column.name;
    }
  }
}

TEST_F(Events, OtherTablesDoNotReferToStrings) {
  const std::set<std::string> others{"run_id", "invocation_id", "plugin_id", "device_id"};
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  const auto columns = database.query(
      "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c "
      "WHERE m.type = 'table' AND m.name <> 'string' AND c.name LIKE '%\\_id' ESCAPE '\\'");
  for (const auto& row : columns.rows) {
    if (find_observed_table(row[0].text) != nullptr) continue;
    EXPECT_TRUE(others.contains(row[1].text)) << row[0].text << "." << row[1].text;
  }
}

TEST_F(Events, EveryTableOfARankIsImported) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  std::set<std::string> known{"rank", "overhead"};
  for (const auto& table : observed_tables()) {
    if (table->owner() != RowOwner::kString) known.insert(table->name());
  }
  const auto tables = database.query(
      "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'rank'");
  for (const auto& row : tables.rows) EXPECT_EQ(known.erase(row[0].text), 1u) << row[0].text;
  EXPECT_TRUE(known.empty());
}

}  // namespace
}  // namespace kymo::store::testing
