// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "export/export.hpp"
#include "sample_events.hpp"

namespace kymo::exports {
namespace {

using testing::error_of;
using testing::ExportTest;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CsvExport : public ExportTest {
 protected:
  std::string csv_of(const CsvRequest& request) {
    export_csv(database(), request, path("out.csv"));
    return read_file(path("out.csv"));
  }
  std::string error(const CsvRequest& request) {
    return error_of([&] { export_csv(database(), request, path("out.csv")); });
  }
};

TEST_F(CsvExport, QuotesWhatMustBeAndDisarmsFormulas) {
  EXPECT_EQ(
      csv_of(
          {.query =
               "SELECT 1 AS a, 2.5 AS \"b,c\", NULL AS n, '=1+1' AS f, 'say \"x\"' AS q, 'a' || char(10) || 'b' AS l",
           .table = "",
           .choice = {}}),
      "a,\"b,c\",n,f,q,l\r\n1,2.5,,'=1+1,\"say \"\"x\"\"\",\"a\nb\"\r\n");
  EXPECT_THAT(csv_of({.query = "SELECT text FROM string WHERE string_id = 1", .table = "", .choice = {}}),
              StartsWith("text\r\n\"'=cmd|"));
}

TEST_F(CsvExport, WritesATableOrViewNarrowedByRunRankAndPass) {
  EXPECT_EQ(csv_of({.query = "", .table = "api_call", .choice = {.run = 3, .rank = 0, .pass = "trace"}}),
            "run_id,rank,pass,sequence,name_id,start_ns,end_ns,thread,correlation_id\r\n"
            "3,0,trace,0,11,1050000,1060000,4321,42\r\n3,0,trace,1,11,1070000,1080000,4322,43\r\n");
  EXPECT_EQ(csv_of({.query = "", .table = "api_call", .choice = {.run = 2, .rank = {}, .pass = {}}}),
            "run_id,rank,pass,sequence,name_id,start_ns,end_ns,thread,correlation_id\r\n");
  EXPECT_THAT(csv_of({.query = "", .table = "run_list", .choice = {.run = 4, .rank = {}, .pass = {}}}),
              HasSubstr("\r\n4,"));
}

TEST_F(CsvExport, ReadsTablesOfAnyKeyPageByPage) {
  execute(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 45000) INSERT INTO sample "
      "(run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns, device_ns) "
      "SELECT 2, 0, 'time', i % 9000, 'phase ' || (i / 9000), 0, 0, 1, 0, i, NULL FROM n");
  const std::string csv = csv_of({.query = "", .table = "sample", .choice = {.run = 2, .rank = {}, .pass = {}}});
  EXPECT_EQ(split(csv, '\n').size(), 45'000u + 2);
  const std::string texts = csv_of({.query = "", .table = "string", .choice = {}});
  EXPECT_THAT(texts, HasSubstr("sgemm_kernel"));
}

TEST_F(CsvExport, RejectsWhatIsNotThere) {
  EXPECT_THAT(error({}), HasSubstr("exactly one of --table and --query"));
  EXPECT_THAT(error({.query = "SELECT 1", .table = "run", .choice = {}}),
              HasSubstr("exactly one of --table and --query"));
  EXPECT_THAT(error({.query = "SELECT 1", .table = "", .choice = {.run = 1, .rank = {}, .pass = {}}}),
              HasSubstr("--run"));
  EXPECT_THAT(error({.query = "", .table = "kernl", .choice = {}}), HasSubstr("did you mean 'kernel'"));
  EXPECT_THAT(error({.query = "", .table = "rank_time", .choice = {}}), Not(HasSubstr("'_")));
  EXPECT_THAT(error({.query = "", .table = "x\"; DROP TABLE run; --", .choice = {}}),
              HasSubstr("no such table or view"));
  EXPECT_THAT(error({.query = "", .table = "string", .choice = {.run = 1, .rank = {}, .pass = {}}}),
              HasSubstr("'string' has none"));
  EXPECT_THAT(error({.query = "DELETE FROM run", .table = "", .choice = {}}), HasSubstr("SELECT"));
  EXPECT_THAT(files(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace kymo::exports
