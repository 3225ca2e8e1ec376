// SPDX-License-Identifier: Apache-2.0
#include "store/row_capture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/error.hpp"
#include "store/copy_rows.hpp"

namespace kymo::store::testing {
namespace {

using ::testing::HasSubstr;

class RowCaptureTest : public ::testing::Test {
 protected:
  RowCaptureTest() {
    source_.exec("CREATE TABLE fact (number INTEGER PRIMARY KEY, value)");
    target_.exec("CREATE TABLE fact (owner TEXT, number INTEGER PRIMARY KEY, value, extra INTEGER)");
  }

  void fill(int rows) {
    source_.exec("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < " +
                 std::to_string(rows) + ") INSERT INTO fact SELECT i, 'v' || i FROM n");
  }

  void copy(const std::string& condition, const std::vector<FixedColumn>& fixed = {}) {
    RowCapture capture(source_);
    const std::vector<std::string> columns{"value", "number"};
    Statement select(source_, RowCapture::select_sql("fact", columns, condition));
    copy_rows(select, capture, {target_, "fact", columns, fixed}, {});
  }

  const std::unique_ptr<Connection> source_connection_ = Connection::temporary("source.db");
  const std::unique_ptr<Connection> target_connection_ = Connection::temporary("target.db");
  const Connection& source_ = *source_connection_;
  const Connection& target_ = *target_connection_;
};

TEST_F(RowCaptureTest, HandsOverEveryRowOnceHoweverManyThereAre) {
  for (const int rows : {1, 31, 32, 33, 64, 1000}) {
    source_.exec("DELETE FROM fact");
    target_.exec("DELETE FROM fact");
    fill(rows);
    copy("");
    EXPECT_EQ(target_.integer("SELECT count(*) FROM fact"), rows);
    EXPECT_EQ(target_.integer("SELECT count(*) FROM fact WHERE value <> 'v' || number"), 0);
    EXPECT_EQ(target_.integer("SELECT max(number) FROM fact"), rows - 1);
  }
}

TEST_F(RowCaptureTest, OfAnEmptyTableHandsOverNothing) {
  copy("");
  EXPECT_EQ(target_.integer("SELECT count(*) FROM fact"), 0);
}

TEST_F(RowCaptureTest, TakesOnlyTheRowsThatFulfilTheCondition) {
  fill(500);
  copy("number >= 100 AND (number % 7 = 0 OR number = 101)");
  EXPECT_EQ(target_.integer("SELECT count(*) FROM fact"),
            source_.integer("SELECT count(*) FROM fact WHERE number >= 100 AND (number % 7 "
                            "= 0 OR number = 101)"));
  EXPECT_EQ(target_.integer("SELECT min(number) FROM fact"), 101);
}

TEST_F(RowCaptureTest, KeepsTypesAndCleansTexts) {
  source_.exec(
      "INSERT INTO fact VALUES (1, NULL), (2, 2.5), (3, x'00ff'), (4, CAST(x'41ff42' AS TEXT)), (5, ''), (6, -7), (7, "
      "x'')");
  copy("");
  const auto shown = [&](int number) {
    return target_.text("SELECT typeof(value) || ' ' || quote(value) FROM fact WHERE number = " +
                        std::to_string(number));
  };
  EXPECT_EQ(shown(1), "null NULL");
  EXPECT_EQ(shown(2), "real 2.5");
  EXPECT_EQ(shown(3), "blob X'00FF'");
  EXPECT_EQ(shown(4),
            "text 'A\xEF\xBF\xBD"
            "B'");
  EXPECT_EQ(shown(5), "text ''");
  EXPECT_EQ(shown(6), "integer -7");
  EXPECT_EQ(shown(7), "blob X''");
}

TEST_F(RowCaptureTest, FixedColumnsAreTakenLiterally) {
  fill(2);
  const std::string hostile = "it's '' -- \\ \"); DROP TABLE fact; \n<script>";
  copy("", {{"owner", hostile}, {"extra", nullptr}});
  EXPECT_EQ(target_.integer("SELECT count(*) FROM fact WHERE extra IS NULL"), 2);
  EXPECT_EQ(target_.text("SELECT DISTINCT owner FROM fact"), hostile);
  target_.exec("DELETE FROM fact");
  copy("", {{"extra", INT64_MIN}});
  EXPECT_EQ(target_.integer("SELECT DISTINCT extra FROM fact"), INT64_MIN);
}

TEST_F(RowCaptureTest, CanBeUsedForOneStatementAfterTheOther) {
  fill(40);
  RowCapture capture(source_);
  const std::vector<std::string> columns{"number"};
  for (const char* condition : {"number < 33", "number >= 33", "number < 0"}) {
    Statement select(source_, RowCapture::select_sql("fact", columns, condition));
    copy_rows(select, capture, {target_, "fact", columns}, {});
  }
  EXPECT_EQ(target_.integer("SELECT count(*) FROM fact"), 40);
}

TEST_F(RowCaptureTest, AFailureWithinABatchComesOut) {
  fill(40);
  RowCapture capture(source_);
  const std::vector<std::string> columns{"number"};
  Statement select(
      source_,
      RowCapture::select_sql("fact", columns, "CASE WHEN number < 35 THEN 1 ELSE abs(-9223372036854775807 - 1) END"));
  try {
    copy_rows(select, capture, {target_, "fact", columns}, {});
    FAIL() << "nothing was said";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("integer overflow"));
  }
}

}  // namespace
}  // namespace kymo::store::testing
