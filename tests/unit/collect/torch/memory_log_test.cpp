// SPDX-License-Identifier: Apache-2.0
#include "collect/stacks/memory_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kymo::collect {
namespace {

TEST(MemoryLog, HandsOverEventsWithTextsAndStacksOfTheRecord) {
  MemoryLog log(1 << 20);
  Stack stack;
  stack.frames[stack.depth++] = reinterpret_cast<void*>(0x10);
  event::MemoryEvent event;
  event.bytes = 1;
  log.add(event, "aten::mm", &stack);
  event.bytes = 2;
  log.add(event, "", nullptr)->after.allocated_bytes = 77;
  event::PassRecord record;
  record.trace.texts.intern("something else");
  record.memory_trace.stacks.resize(3);
  log.hand_over(record, "source");
  const auto& events = record.memory_trace.events;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(record.trace.texts.text(events[0].op), "aten::mm");
  EXPECT_EQ(events[0].stack, 3);
  EXPECT_EQ(record.memory_trace.stacks.size(), 4u);
  EXPECT_EQ(events[1].op, event::kNoText);
  EXPECT_EQ(events[1].stack, -1);
  EXPECT_EQ(events[1].after.allocated_bytes, 77) << "filled in later";
  EXPECT_TRUE(record.dropped_records.empty());
  event::PassRecord again;
  log.hand_over(again, "source");
  EXPECT_TRUE(again.memory_trace.events.empty());
}

TEST(MemoryLog, NewEventsAreAddedWhileThePassRuns) {
  MemoryLog log(1 << 24);
  event::NewEvents events;
  events.texts.intern("something else");
  Stack stack;
  stack.depth = 1;
  const auto add = [&](std::int64_t bytes, std::uintptr_t frame) {
    stack.frames[0] = reinterpret_cast<void*>(frame);
    event::MemoryEvent event;
    event.bytes = bytes;
    return log.add(event, bytes % 2 ? "aten::mm" : "aten::add", &stack);
  };
  for (std::int64_t i = 0; i < 100; ++i) add(i, 0x10);
  event::MemoryEvent* const pending = add(100, 0x20);
  log.add_new(events, false);
  ASSERT_EQ(events.memory_events.size(), 100u);
  EXPECT_EQ(events.texts.text(events.memory_events[99].op), "aten::mm");
  pending->after.allocated_bytes = 77;
  events.clear();
  log.add_new(events, false);
  EXPECT_TRUE(events.memory_events.empty()) << "its counters are not known yet";
  log.add_new(events);
  add(101, 0x10);
  log.add_new(events);
  ASSERT_EQ(events.memory_events.size(), 2u);
  EXPECT_EQ(events.memory_events[0].after.allocated_bytes, 77);
  EXPECT_EQ(events.texts.text(events.memory_events[0].op), "aten::add");
  EXPECT_EQ(events.memory_events[0].stack, 1);
  EXPECT_EQ(events.memory_events[1].bytes, 101);
  EXPECT_EQ(events.memory_events[1].stack, 0);
  EXPECT_EQ(events.stacks, (std::vector<std::vector<std::uint32_t>>{{0}, {1}}));
  EXPECT_EQ(events.frames.size(), 2u);
  event::PassRecord record;
  log.hand_over(record, "source");
  EXPECT_EQ(record.memory_trace.events.size(), 102u) << "all of them";
  event::NewEvents none;
  log.add_new(none);
  EXPECT_TRUE(none.memory_events.empty() && none.stacks.empty());
}

TEST(MemoryLog, CountsWhatItCannotKeep) {
  MemoryLog log(10 * static_cast<std::int64_t>(sizeof(event::MemoryEvent)));
  Stack stack;
  int dropped = 0;
  for (std::uintptr_t i = 1; i <= 100; ++i) {
    stack.depth = 48;
    stack.frames.fill(reinterpret_cast<void*>(i));
    dropped += log.add({}, "", &stack) == nullptr ? 1 : 0;
  }
  log.count_dropped();
  event::PassRecord record;
  log.hand_over(record, "source");
  EXPECT_EQ(record.memory_trace.events.size() + static_cast<std::size_t>(dropped), 100u);
  ASSERT_EQ(record.dropped_records.size(), 2u);
  EXPECT_EQ(record.dropped_records[0].count, dropped + 1);
  EXPECT_THAT(record.dropped_records[0].detail, testing::HasSubstr("memory events beyond the memory limit"));
  EXPECT_GT(record.dropped_records[1].count, 0);
  EXPECT_THAT(record.dropped_records[1].detail, testing::HasSubstr("stacks"));
}

TEST(Chunks, KeepRowsInPlaceAndInOrder) {
  Chunks<int> rows;
  int& first = rows.add(0);
  const int* const position = &first;
  for (int i = 1; i < 50'000; ++i) rows.add(i);
  EXPECT_EQ(&first, position);
  EXPECT_EQ(rows.size(), 50'000u);
  int next = 0;
  rows.drain([&](int row) { EXPECT_EQ(row, next++); });
  EXPECT_EQ(next, 50'000);
  EXPECT_EQ(rows.size(), 0u);
}

}  // namespace
}  // namespace kymo::collect
