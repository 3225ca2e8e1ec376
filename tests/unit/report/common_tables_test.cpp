// SPDX-License-Identifier: Apache-2.0
// The key `with`: queries that other queries of a report read like tables.
#include "report/common_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "report/definition.hpp"
#include "report/report.hpp"
#include "sample_database.hpp"

namespace kymo::report {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class WithQueries : public ::testing::Test {
 protected:
  WithQueries() {
    for (const char* name : {"own", "shared"}) fs::create_directory(folder_.path() / name);
    write("own/t.sql", "-- caption: c\n-- empty: e\nSELECT n FROM chosen ORDER BY n");
    write("own/chosen.sql", "-- SPDX-License-Identifier: Apache-2.0\n-- Some; rows 'of\n\nSELECT 1 AS n;\n");
  }
  void write(const std::string& name, const std::string& text) { write_file(folder_.path() / name, text); }
  ReportDefinition read(const std::string& toml) {
    write("own/report.toml", toml);
    return read_definition(folder_.path() / "own");
  }
  std::string error_of(const std::string& toml) {
    try {
      read(toml);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  static std::string report(const std::string& top, const std::string& section) {
    return "title = 'T'\n" + top + "\n[[section]]\nheading = 'H'\n" + section + "\n[[section.table]]\nfile = 't.sql'\n";
  }
  testing::TemporaryFolder folder_;
};

TEST_F(WithQueries, ComeBeforeTheQueriesThatReadThem) {
  const ReportDefinition read_report = read(report("with.chosen = 'chosen.sql'", "") +
                                            "[[section.value]]\nname = 'v'\nsql = 'SELECT 2 AS chosen_ones'\n");
  EXPECT_EQ(
      read_report.sections[0].tables[0].sql,
      "-- caption: c\n-- empty: e\nWITH chosen AS MATERIALIZED (\nSELECT 1 AS n\n)\nSELECT n FROM chosen ORDER BY n");
  EXPECT_EQ(read_report.sections[0].prose.values[0].sql, "SELECT 2 AS chosen_ones") << "does not read it";
}

TEST_F(WithQueries, JoinTheQuerysOwnCommonTables) {
  CommonTables tables;
  const Json json = parse_toml("with = { a = 'SELECT 1 AS x', b = 'SELECT x FROM a' }", "t");
  Keys keys(json, "t");
  tables.add(keys, folder_.path());
  EXPECT_EQ(tables.expand("WITH c AS (SELECT 1) SELECT * FROM b, c", "q"),
            "WITH a AS MATERIALIZED (\nSELECT 1 AS x\n),\nb AS MATERIALIZED (\nSELECT x FROM a\n),\n"
            "c AS (SELECT 1) SELECT * FROM b, c");
  EXPECT_THAT(tables.expand("WITH RECURSIVE c AS (SELECT x FROM a) SELECT * FROM c", "q"),
              ::testing::StartsWith("WITH RECURSIVE a AS MATERIALIZED ("));
  for (const std::string unread :
       {"SELECT t.a FROM t", "SELECT 'a' AS t -- a", "SELECT /* a */ 1 AS ab",
        "WITH a AS (SELECT 2 AS x) SELECT x FROM a", "WITH a (x) AS MATERIALIZED (SELECT 2) SELECT x FROM a",
        "WITH c (x, y) AS (SELECT 1, 2), a\n AS\n (SELECT x FROM c) SELECT x AS n FROM a"})
    EXPECT_EQ(tables.expand(unread, "q"), unread);
  EXPECT_THAT(([&] { tables.expand("EXPLAIN SELECT * FROM a", "q.sql"); }),
              ThrowsMessage<UsageError>(AllOf(HasSubstr("q.sql"), HasSubstr("'a'"), HasSubstr("SELECT or WITH"))));
}

TEST_F(WithQueries, HaveTheResultsOfTheirStatement) {
  testing::SampleDatabase sample(folder_.path());
  sample.add({});
  const auto rows = [&](const std::string& toml) {
    return read_file(make_report(sample.database(), read(toml), {folder_.path() / "out", {"csv"}, {}}).front());
  };
  EXPECT_EQ(rows(report("with.chosen = 'chosen.sql'", "")), "n\r\n1\r\n");
  EXPECT_EQ(rows(report("with.chosen = 'chosen.sql'", "with.chosen = 'SELECT 7 AS n'") +
                 "[[section]]\nheading = 'I'\n[[section.table]]\nfile = 't.sql'\n"),
            "n\r\n7\r\n")
      << "the section replaces what the report has";
}

TEST_F(WithQueries, OfSharedContentAreReplacedByTheSection) {
  write("shared/t.sql", "-- caption: c\n-- empty: e\nSELECT n FROM sum_of");
  write("shared/a.toml",
        "with = { chosen = 'SELECT 2 AS n', sum_of = 'SELECT sum(n) AS n FROM chosen' }\n[[table]]\nfile = 't.sql'\n");
  const std::string section = "title = 'T'\n[[section]]\nheading = 'H'\ncontent = '../shared/a.toml'\n";
  EXPECT_THAT(read(section).sections[0].tables[0].sql, HasSubstr("SELECT 2 AS n"));
  EXPECT_THAT(read(section + "with.chosen = 'chosen.sql'\n").sections[0].tables[0].sql,
              AllOf(HasSubstr("SELECT 1 AS n"), HasSubstr("sum(n) AS n FROM chosen")));
  EXPECT_THAT(error_of(section + "with.choosen = 'chosen.sql'\n"),
              AllOf(HasSubstr("section 'H'"), HasSubstr("'with.choosen'"), HasSubstr("did you mean 'chosen'")));
  EXPECT_THAT(error_of("title = 'T'\nwith.chosen = 'chosen.sql'\n" + section.substr(section.find('['))),
              HasSubstr("no query here reads 'with.chosen'"))
      << "shared content does not see what its users define";
}

TEST_F(WithQueries, ErrorsAreNamed) {
  EXPECT_THAT(error_of(report("with.chosen = 'missing.sql'", "")), HasSubstr("missing.sql"));
  EXPECT_THAT(error_of(report("with.chosen = '/etc/chosen.sql'", "")),
              AllOf(HasSubstr("report.toml: key 'with.chosen'"), HasSubstr("../REPORT/NAME.sql")));
  EXPECT_THAT(error_of(report("with.chosen = 7", "")), AllOf(HasSubstr("'with.chosen'"), HasSubstr("a string")));
  EXPECT_THAT(error_of(report("with = 'chosen.sql'", "")), HasSubstr("key 'with' must be a table"));
  EXPECT_THAT(error_of(report("with.'a-b' = 'chosen.sql'", "")), HasSubstr("'with.a-b'"));
  EXPECT_THAT(error_of(report("with = { chosen = 'chosen.sql', other = 'SELECT 1' }", "")),
              AllOf(HasSubstr("report.toml"), HasSubstr("no query here reads 'with.other'")));
  EXPECT_THAT(error_of(report("", "with = { chosen = 'chosen.sql', other = 'SELECT 1' }")),
              AllOf(HasSubstr("section 'H'"), HasSubstr("no query here reads 'with.other'")));
  EXPECT_THAT(error_of(report("with = { chosen = 'SELECT * FROM a', a = 'SELECT * FROM chosen' }", "")),
              HasSubstr("read each other: chosen → a → chosen"));
  EXPECT_THAT(error_of(report("with.chosen = 'SELECT * FROM chosen'", "")), HasSubstr("chosen → chosen"));
  write("own/chosen.sql", "DELETE FROM run");
  EXPECT_THAT(error_of(report("with.chosen = 'chosen.sql'", "")), HasSubstr("chosen.sql: must contain one query"));
}

TEST_F(WithQueries, BlocksMayShareAQueryUnderAnotherNameAndCaption) {
  write("shared/t.sql", "-- caption: c\nSELECT 1 AS n");
  const std::string table = "title = 'T'\n[[section]]\nheading = 'H'\n[[section.table]]\nfile = '../shared/t.sql'\n";
  const QueryFile query = read(table + "empty = 'Run it.'\nname = 'mine'\ncaption = 'Mine.'").sections[0].tables[0];
  EXPECT_EQ(query.caption, "Mine.");
  EXPECT_EQ(query.empty, "Run it.");
  EXPECT_EQ(query.output_name, "mine");
  EXPECT_THAT(error_of(table), HasSubstr("lacks 'empty'"));
  EXPECT_THAT(error_of(table + "empty = 'e'\nname = '../mine'"), HasSubstr("key 'name'"));
}

}  // namespace
}  // namespace kymo::report
