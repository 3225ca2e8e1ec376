// SPDX-License-Identifier: Apache-2.0
#include "collect/event_log/launch_log.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "unit/collect/thread_position.hpp"

namespace kymo::collect {
namespace {

constexpr std::int64_t kMib = 1 << 20;

const ExecutionContext kNobody;

void append(LaunchLog& log, std::uint32_t correlation) { log.append(correlation, event::LaunchKind::kKernel); }

std::vector<event::Launch> taken(LaunchLog& log) {
  std::vector<event::Launch> launches;
  log.take(launches);
  return launches;
}

TEST(LaunchLog, KeepsEverythingInOrder) {
  EventArena arena(16 * kMib);
  LaunchLog log(arena, kNobody, 0);
  constexpr std::uint32_t kCount = 20'000;  // several chunks
  for (std::uint32_t i = 0; i < kCount; ++i) append(log, i);
  const auto launches = taken(log);
  ASSERT_EQ(launches.size(), kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(launches[i].correlation_id, i);
  EXPECT_EQ(log.dropped(), 0);
  EXPECT_TRUE(taken(log).empty());
}

TEST(LaunchLog, NewLaunchesAreAddedWhileOthersFollow) {
  EventArena arena(64 * kMib);
  LaunchLog log(arena, kNobody, 0);
  constexpr std::uint32_t kCount = 10'000;  // several chunks
  std::vector<event::Launch> launches;
  log.add_new(launches);
  EXPECT_TRUE(launches.empty());
  for (std::uint32_t i = 0; i < kCount; ++i) {
    append(log, i);
    if (i % 7 == 0) log.add_new(launches);
  }
  std::atomic<bool> has_ended{false};
  std::thread other([&] {
    for (std::uint32_t i = kCount; i < 2 * kCount; ++i) append(log, i);
    has_ended = true;
  });
  while (!has_ended) log.add_new(launches);
  other.join();
  log.add_new(launches);
  ASSERT_EQ(launches.size(), 2 * kCount);
  for (std::uint32_t i = 0; i < 2 * kCount; ++i) ASSERT_EQ(launches[i].correlation_id, i);
  EXPECT_EQ(taken(log).size(), 2 * kCount) << "all of them";
}

TEST(LaunchLog, ThreadsThatEndedLoseNothing) {
  constexpr std::uint32_t kThreads = 16;
  constexpr std::uint32_t kCount = 10'000;
  EventArena arena(64 * kMib);
  ExecutionContext execution_context;
  execution_context.this_thread = &set_thread_position;
  LaunchLog log(arena, execution_context, 0);
  std::atomic<std::uint32_t> next{0};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&log, &next] {
      for (std::uint32_t i = 0; i < kCount; ++i) append(log, next++);
    });
  }
  for (auto& thread : threads) thread.join();
  const auto launches = taken(log);
  ASSERT_EQ(launches.size(), kThreads * kCount);
  EXPECT_EQ(log.dropped(), 0);
  std::vector<bool> seen(kThreads * kCount);
  std::map<std::uint32_t, const event::Launch*> last;
  for (const auto& each : launches) {
    ASSERT_LT(each.correlation_id, seen.size());
    EXPECT_FALSE(seen[each.correlation_id]) << "twice";
    seen[each.correlation_id] = true;
    const event::Launch*& before = last[each.position.thread];
    if (before) {
      // A thread gets its correlation IDs in ascending order; consecutive clock readings may be equal.
      EXPECT_LT(before->correlation_id, each.correlation_id) << "out of order on its thread";
      EXPECT_LE(before->time_ns, each.time_ns) << "out of order on its thread";
    }
    before = &each;
  }
  EXPECT_EQ(last.size(), kThreads);
}

TEST(LaunchLog, NotesWhenAndWhere) {
  EventArena arena(kMib);
  ExecutionContext execution_context;
  execution_context.this_thread = &set_thread_position;
  own_position().range = 5;
  execution_context.step = 3;
  execution_context.phase = 1;
  execution_context.current_node = []() noexcept { return event::AutogradPosition{41, 2}; };
  const std::int64_t begin_ns = now_ns();
  LaunchLog log(arena, execution_context, begin_ns);
  log.append(7, event::LaunchKind::kMemcpy);
  execution_context.phase = -1;
  execution_context.current_node = nullptr;
  log.append(8, event::LaunchKind::kKernel);
  const auto launches = taken(log);
  const std::int64_t whole_ns = now_ns() - begin_ns;
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].kind, event::LaunchKind::kMemcpy);
  EXPECT_EQ(launches[0].position.step, 3);
  EXPECT_EQ(launches[0].position.phase, 1);
  EXPECT_EQ(launches[0].position.range, 5);
  EXPECT_EQ(launches[0].position.thread, own_position().number);
  EXPECT_EQ(launches[0].position.node.sequence, 41);
  EXPECT_EQ(launches[1].position.phase, -1);
  EXPECT_EQ(launches[1].position.node.sequence, -1);
  EXPECT_GE(launches[0].time_ns, -1000) << "as exact as the comparison of clocks";
  EXPECT_LE(launches[0].time_ns, launches[1].time_ns);
  EXPECT_LE(launches[1].time_ns, whole_ns + 1000);
}

TEST(LaunchLog, CountsWhatHasNoRoom) {
  constexpr std::uint32_t kCount = 100'000;
  EventArena arena(kMib);
  LaunchLog log(arena, kNobody, 0);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&log] {
      for (std::uint32_t i = 0; i < kCount; ++i) append(log, i);
    });
  }
  for (auto& thread : threads) thread.join();
  const auto launches = taken(log);
  EXPECT_GT(launches.size(), 10'000u);
  EXPECT_LE(launches.size() * sizeof(event::Launch), static_cast<std::size_t>(kMib));
  EXPECT_EQ(static_cast<std::int64_t>(launches.size()) + log.dropped(), 4 * static_cast<std::int64_t>(kCount));
}

TEST(LaunchLog, WithoutRoomEverythingIsLostAndCounted) {
  EventArena arena(0);
  ASSERT_NE(arena.take_low(1), nullptr);
  LaunchLog log(arena, kNobody, 0);
  for (std::uint32_t i = 0; i < 5; ++i) append(log, i);
  EXPECT_TRUE(taken(log).empty());
  EXPECT_EQ(log.dropped(), 5);
}

TEST(LaunchLog, ACapturedCallIsTakenBack) {
  EventArena arena(kMib);
  LaunchLog log(arena, kNobody, 0);
  log.retract();  // nothing has been appended yet
  append(log, 1);
  log.close();
  log.retract();  // the call has returned: nodes created now do not belong to it
  append(log, 2);
  log.retract();
  log.retract();  // a call that creates two nodes
  append(log, 3);
  const auto launches = taken(log);
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].correlation_id, 1u);
  EXPECT_EQ(launches[1].correlation_id, 3u);
}

TEST(LaunchLog, ACapturedCallWithoutRoomIsNoDroppedRecord) {
  EventArena arena(0);
  ASSERT_NE(arena.take_low(1), nullptr);
  LaunchLog log(arena, kNobody, 0);
  append(log, 1);
  log.retract();
  EXPECT_EQ(log.dropped(), 0);
}

TEST(LaunchLog, ASecondLogOfTheSameThreadIsAnother) {
  EventArena arena(kMib);
  for (std::uint32_t i = 0; i < 3; ++i) {
    LaunchLog log(arena, kNobody, 0);  // likely at the same address each time
    append(log, i);
    const auto launches = taken(log);
    ASSERT_EQ(launches.size(), 1u);
    EXPECT_EQ(launches[0].correlation_id, i);
  }
}

// The log is collected while one thread is still writing, at a different point each time; that thread then continues
// for many chunks.
TEST(LaunchLog, StragglersDoNoHarm) {
  constexpr std::uint32_t kRounds = 50;
  constexpr std::uint32_t kAfterwards = 5'000;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    EventArena arena(8 * kMib);
    LaunchLog log(arena, kNobody, 0);
    std::atomic<std::uint32_t> appended{0};
    std::atomic<bool> is_taken{false};
    std::thread straggler([&] {
      for (std::uint32_t last = kAfterwards; appended < last; ++appended) {
        append(log, appended);
        if (appended % 3 == 0) log.retract();
        log.close();
        if (!is_taken) last = appended + kAfterwards;
      }
    });
    while (appended <= round) std::this_thread::yield();
    const auto launches = taken(log);
    is_taken = true;
    straggler.join();
    std::uint32_t next = 1;
    for (const auto& launch : launches) {
      if (launch.correlation_id % 3 == 0) {
        EXPECT_EQ(&launch, &launches.back()) << "only the call that was open could still be taken back";
      } else {
        ASSERT_EQ(launch.correlation_id, next) << "whole, and none is missing";
      }
      EXPECT_EQ(launch.kind, event::LaunchKind::kKernel);
      EXPECT_EQ(launch.position.step, -1);
      next += next % 3 == 1 ? 1 : 2;
    }
    EXPECT_GE(next, round / 3 * 3);
  }
}

}  // namespace
}  // namespace kymo::collect
