// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/buffer_pool.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "collect/cuda/activity_parser.hpp"
#include "unit/collect/cuda/raw_records.hpp"

namespace kymo::collect {
namespace {

constexpr std::int64_t kMib = 1 << 20;
constexpr std::size_t kPage = 4096;

TEST(EventArena, MeetsItsBoundFromBothEnds) {
  EventArena arena(4 * kPage);
  std::byte* low = arena.take_low(1);
  std::byte* high = arena.take_high(kPage);
  ASSERT_NE(low, nullptr);
  EXPECT_EQ(high, low + 3 * kPage);
  EXPECT_EQ(arena.take_low(3 * kPage), nullptr) << "two pages are left";
  EXPECT_EQ(arena.take_high(2 * kPage), low + kPage);
  EXPECT_EQ(arena.take_low(1), nullptr);
  EXPECT_EQ(arena.take_high(1), nullptr);
}

TEST(EventArena, BoundsOfNothingHoldAPage) {
  for (const std::int64_t bytes : {std::int64_t{-5}, std::int64_t{0}, std::int64_t{100}}) {
    EventArena arena(bytes);
    EXPECT_EQ(arena.size_bytes(), kPage);
    EXPECT_NE(arena.take_low(1), nullptr);
    EXPECT_EQ(arena.take_low(1), nullptr);
  }
}

TEST(EventArena, ReleasedPagesReadAsZeros) {
  EventArena arena(kMib);
  std::byte* memory = arena.take_low(2 * kPage);
  std::memset(memory, 0xff, 2 * kPage);
  EventArena::release(memory, 2 * kPage);
  EXPECT_EQ(memory[0], std::byte{0});
  EXPECT_EQ(memory[2 * kPage - 1], std::byte{0});
}

std::size_t resident_pages(std::byte* memory, std::size_t bytes) {
  std::vector<unsigned char> pages(bytes / kPage);
  EXPECT_EQ(mincore(memory, bytes, pages.data()), 0);
  return static_cast<std::size_t>(
      std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; }));
}

TEST(EventArena, WarmingTouchesWhatIsTakenNextAndKeepsWhatLiesThere) {
  EventArena arena(kMib);
  std::byte* const begin = arena.take_low(0);
  EXPECT_EQ(resident_pages(begin, kMib), 0u);
  arena.warm(4 * kPage, 2 * kPage);
  EXPECT_EQ(resident_pages(begin, 4 * kPage), 4u);
  EXPECT_EQ(resident_pages(begin, kMib), 6u);
  std::byte* const taken = arena.take_low(2 * kPage);
  arena.warm(4 * kPage, 2 * kPage);
  EXPECT_EQ(resident_pages(begin, kMib), 6u) << "half of it is left";
  arena.take_low(kPage);
  std::memset(taken, 0x5a, 4 * kPage);  // one page further: a thread that has allocated it meanwhile
  arena.warm(4 * kPage, 2 * kPage);
  EXPECT_EQ(resident_pages(begin, 7 * kPage), 7u);
  EXPECT_EQ(resident_pages(begin, kMib), 9u);
  EXPECT_EQ(taken[4 * kPage - 1], std::byte{0x5a});
  EXPECT_EQ(taken[4 * kPage], std::byte{0});
  arena.warm(2 * kMib, 2 * kMib);
  EXPECT_EQ(resident_pages(begin, kMib), kMib / kPage) << "no further than there is memory";
  EXPECT_EQ(taken[0], std::byte{0x5a});
}

TEST(EventArena, ThreadsNeverGetTheSame) {
  EventArena arena(64 * kMib);
  const std::size_t pages = arena.size_bytes() / kPage;
  std::atomic<std::size_t> taken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&arena, &taken, t] {
      while (std::byte* page = t % 2 ? arena.take_low(kPage) : arena.take_high(kPage)) {
        EXPECT_EQ(*page, std::byte{0}) << "someone else wrote here";
        *page = std::byte{1};
        ++taken;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(taken, pages);
}

class BufferPoolTest : public testing::Test {
 protected:
  static constexpr std::size_t kBuffer = 128 << 10;

  static std::size_t kernel_bytes() { return record_size(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL); }
  /// Writes kernel records into a buffer, as many as fit but at most `most`; returns the bytes written.
  static std::size_t fill(const BufferPool::Buffer& buffer, std::size_t most = SIZE_MAX) {
    const auto record = raw_kernel("k", 1, 2);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < most && bytes + kernel_bytes() <= buffer.bytes; ++i, bytes += kernel_bytes()) {
      std::memcpy(buffer.memory + bytes, &record, sizeof(record));
    }
    return bytes;
  }

  EventArena arena_{kMib};
  BufferPool pool_{arena_, kBuffer, count_activity_records};
};

TEST_F(BufferPoolTest, SizesFollowTheBound) {
  EXPECT_EQ(BufferPool::buffer_bytes_for(512 * kMib), std::size_t{4} << 20);
  EXPECT_EQ(BufferPool::buffer_bytes_for(kMib), kBuffer);
  EXPECT_EQ(BufferPool::buffer_bytes_for(1), std::size_t{64} << 10);
  EXPECT_EQ(BufferPool::buffer_bytes_for(-1), std::size_t{64} << 10);
}

TEST_F(BufferPoolTest, FilledBuffersComeBackInOrder) {
  const auto first = pool_.request();
  const auto second = pool_.request();
  EXPECT_EQ(first.bytes, kBuffer);
  EXPECT_NE(first.memory, second.memory);
  pool_.complete(second.memory, 216, 0);
  pool_.complete(first.memory, 432, 0);
  const auto filled = pool_.take_filled();
  ASSERT_EQ(filled.size(), 2u);
  EXPECT_EQ(filled[0].memory, second.memory);
  EXPECT_EQ(filled[0].bytes, 216u);
  EXPECT_EQ(filled[1].bytes, 432u);
  EXPECT_TRUE(pool_.take_filled().empty());
  EXPECT_EQ(pool_.dropped(), 0);
}

TEST_F(BufferPoolTest, EmptyBuffersAreHandedOutAgain) {
  const auto first = pool_.request();
  pool_.complete(first.memory, 0, 0);
  EXPECT_EQ(pool_.request().memory, first.memory);
  EXPECT_TRUE(pool_.take_filled().empty());
}

TEST_F(BufferPoolTest, NeverGrowsBeyondItsBoundAndCountsTheRest) {
  std::set<std::uint8_t*> seen;
  std::int64_t written = 0;
  for (int i = 0; i < 200; ++i) {
    const auto buffer = pool_.request();
    ASSERT_NE(buffer.memory, nullptr);
    EXPECT_TRUE(arena_.holds(buffer.memory));
    EXPECT_TRUE(arena_.holds(buffer.memory + buffer.bytes - 1));
    seen.insert(buffer.memory);
    const std::size_t bytes = fill(buffer);
    written += static_cast<std::int64_t>(bytes / kernel_bytes());
    pool_.complete(buffer.memory, bytes, 0);
  }
  EXPECT_LT(seen.size(), 12u);
  std::int64_t kept = 0;
  for (const auto& buffer : pool_.take_filled()) kept += count_activity_records(buffer.memory, buffer.bytes);
  EXPECT_GT(kept, 0);
  EXPECT_GT(pool_.dropped(), 0);
  EXPECT_EQ(kept + pool_.dropped(), written);
}

TEST_F(BufferPoolTest, DeclinesWhenEvenTheSpareBuffersAreInUse) {
  BufferPool::Buffer last;
  int given = 0;
  for (auto buffer = pool_.request(); buffer.memory; buffer = pool_.request(), ++given) last = buffer;
  EXPECT_LT(last.bytes, kBuffer) << "the last ones are scraps";
  EXPECT_EQ(pool_.request().bytes, 0u);
  pool_.complete(nullptr, 0, 17);
  EXPECT_EQ(pool_.dropped(), 17) << "what CUPTI dropped meanwhile";
  pool_.complete(last.memory, fill(last, 3), 4);
  EXPECT_EQ(pool_.dropped(), 17 + 3 + 4);
  EXPECT_EQ(pool_.request().memory, last.memory);
}

TEST(BufferPool, AnArenaWithoutRoomGivesNothing) {
  EventArena arena(0);
  BufferPool pool(arena, BufferPool::buffer_bytes_for(0), count_activity_records);
  EXPECT_LE(pool.request().bytes, kPage * 2);
  while (pool.request().memory) {
  }
  EXPECT_EQ(pool.request().memory, nullptr);
}

}  // namespace
}  // namespace kymo::collect
