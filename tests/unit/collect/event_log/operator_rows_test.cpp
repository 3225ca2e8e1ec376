// SPDX-License-Identifier: Apache-2.0
#include "collect/event_log/operator_rows.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "collect/event_log/clock_conversion.hpp"

namespace kymo::collect {
namespace {

constexpr std::int64_t kRowsBytes = std::int64_t{64} << 20;
constexpr std::int64_t kOnePage = 4096;

OperatorRow* put(RowWriter& writer, std::int64_t number, const std::string& name) {
  const RowText* kept = nullptr;
  if (!writer.intern(name, kept) || !writer.has_space()) return nullptr;
  OperatorRow& row = writer.add();
  row.name = kept;
  row.number = number;
  writer.publish();
  return &row;
}

TEST(OperatorRows, RowsOfManyChunksAndThreadsAreAllThere) {
  constexpr int kThreads = 3;
  constexpr std::int64_t kRows = 20'000;  // several chunks each
  OperatorRows rows(kRowsBytes);
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&rows, thread] {
      RowWriter writer;
      writer.begin(rows, thread);
      for (std::int64_t i = 0; i < kRows; ++i)
        ASSERT_NE(put(writer, thread * kRows + i, "name " + std::to_string(i % 1000)), nullptr);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(rows.published(), kThreads * kRows);
  std::vector<int> seen(kThreads * kRows);
  rows.each([&](const OperatorRow& row, std::uint32_t thread) {
    ++seen.at(static_cast<std::size_t>(row.number));
    EXPECT_EQ(thread, row.number / kRows);
    EXPECT_EQ(row.name->view(), "name " + std::to_string(row.number % kRows % 1000));
    EXPECT_EQ(row.end, -1);
  });
  for (const int times : seen) EXPECT_EQ(times, 1);
}

TEST(OperatorRows, ARowIsSeenOnceItIsPublished) {
  OperatorRows rows(kRowsBytes);
  RowWriter writer;
  writer.begin(rows, 0);
  ASSERT_TRUE(writer.has_space());
  writer.add();
  EXPECT_EQ(rows.published(), 0);
  writer.publish();
  EXPECT_EQ(rows.published(), 1);
}

TEST(OperatorRows, TextsAreKeptOnceAndCompareByTheirCharacters) {
  OperatorRows rows(kRowsBytes);
  RowWriter writer;
  writer.begin(rows, 0);
  const RowText* first = nullptr;
  const RowText* second = nullptr;
  char name[] = "aten::mm";
  ASSERT_TRUE(writer.intern(name, first));
  ASSERT_TRUE(writer.intern(name, second));
  EXPECT_EQ(first, second);
  ASSERT_TRUE(writer.intern("aten::mm", second));
  EXPECT_EQ(first, second);
  name[6] = 'b';  // another name at the same address
  ASSERT_TRUE(writer.intern(name, second));
  EXPECT_EQ(second->view(), "aten::bm");
  EXPECT_EQ(first->view(), "aten::mm");
  name[4] = '\0';  // a prefix of a known name
  ASSERT_TRUE(writer.intern(name, second));
  EXPECT_EQ(second->view(), "aten");
  ASSERT_TRUE(writer.intern("", second));
  EXPECT_EQ(second, nullptr);
}

TEST(OperatorRows, ManyTextsStayToldApart) {
  constexpr int kTexts = 5000;
  OperatorRows rows(kRowsBytes);
  RowWriter writer;
  writer.begin(rows, 0);
  std::map<std::string, const RowText*> kept;
  for (int pass = 0; pass < 2; ++pass)
    for (int i = 0; i < kTexts; ++i) {
      const std::string text = "[" + std::to_string(i) + "]";
      const RowText* found = nullptr;
      ASSERT_TRUE(writer.intern(text, found));
      ASSERT_EQ(found->view(), text);
      EXPECT_EQ(kept.try_emplace(text, found).first->second, found);
    }
}

TEST(OperatorRows, BeyondTheBoundThereIsNeitherRowNorText) {
  OperatorRows rows(kOnePage);
  RowWriter writer;
  writer.begin(rows, 0);
  std::int64_t number = 0;
  while (put(writer, number, "aten::add")) ++number;
  EXPECT_GT(number, 10);
  EXPECT_EQ(rows.published(), number);
  const RowText* text = nullptr;
  EXPECT_TRUE(writer.intern("aten::add", text)) << "a known one takes no room";
  EXPECT_FALSE(writer.intern(std::string(500, 'x'), text));
  RowWriter late;
  late.begin(rows, 1);
  EXPECT_EQ(put(late, number, "aten::add"), nullptr);
  EXPECT_EQ(rows.published(), number);
}

TEST(OperatorRows, ATextThatNoChunkHoldsTakesNoRoom) {
  OperatorRows rows(kOnePage);
  RowWriter writer;
  writer.begin(rows, 0);
  const RowText* text = nullptr;
  EXPECT_FALSE(writer.intern(std::string(5000, 'x'), text));
  EXPECT_NE(put(writer, 0, "still room"), nullptr);
}

TEST(OperatorRows, WhoStillWritesAfterTheReleaseDoesNoHarm) {
  OperatorRows rows(kOnePage * 4);
  RowWriter writer;
  writer.begin(rows, 0);
  OperatorRow* const open = put(writer, 0, "open");
  rows.release();
  EXPECT_EQ(rows.published(), 0);
  open->end = 5;
  for (int i = 0; i < 1000; ++i) put(writer, i, "late " + std::to_string(i % 7));
  OperatorRows next(kRowsBytes);
  writer.begin(next, 0);
  ASSERT_NE(put(writer, 0, "open"), nullptr);
  EXPECT_EQ(next.published(), 1);
  next.each([](const OperatorRow& row, std::uint32_t) { EXPECT_EQ(row.name->view(), "open"); });
}

TEST(CallClock, ItsReadingsLieOnTheHostsClockInTheirOrder) {
  constexpr std::int64_t kSlackNs = 1'000'000;  // a busy machine may interrupt any comparison
  CallClock clock;
  const std::int64_t before_ns = now_ns();
  const std::int64_t first = clock.read();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::int64_t second = clock.read();
  const std::int64_t after_ns = now_ns();
  clock.finish();
  EXPECT_GE(clock.host_ns(first), before_ns - kSlackNs);
  EXPECT_LE(clock.host_ns(second), after_ns + kSlackNs);
  EXPECT_GE(clock.host_ns(second) - clock.host_ns(first), 20'000'000 - kSlackNs);
}

}  // namespace
}  // namespace kymo::collect
