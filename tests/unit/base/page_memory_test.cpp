// SPDX-License-Identifier: Apache-2.0
#include "base/page_memory.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory_resource>
#include <new>

namespace kymo {
namespace {

TEST(PageMemory, IsWholePagesOutsideTheHeap) {
  constexpr std::size_t kBytes = 100'000;
  const std::size_t heap_bytes = mallinfo2().uordblks;
  auto* const memory = static_cast<std::byte*>(page_memory()->allocate(kBytes));
  const std::size_t with_memory = mallinfo2().uordblks;
  EXPECT_EQ(with_memory, heap_bytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)), 0U);
  EXPECT_EQ(memory[kBytes - 1], std::byte{0});
  std::memset(memory, 1, kBytes);
  page_memory()->deallocate(memory, kBytes);
}

TEST(PageMemory, RecordsInItTakeNothingFromTheHeap) {
  std::pmr::monotonic_buffer_resource memory(1 << 16, page_memory());
  std::pmr::deque<std::uint64_t> records(&memory);
  const std::size_t heap_bytes = mallinfo2().uordblks;
  for (std::uint64_t i = 0; i < 100'000; ++i) records.push_back(i);
  const std::size_t with_records = mallinfo2().uordblks;
  EXPECT_EQ(with_records, heap_bytes);
  EXPECT_EQ(records.front(), 0U);
  EXPECT_EQ(records.back(), 99'999U);
}

TEST(PageMemory, ThrowsIfTheSystemHasNone) {
  volatile std::size_t bytes = std::size_t{1} << 60;
  EXPECT_THROW((void)page_memory()->allocate(bytes), std::bad_alloc);
}

}  // namespace
}  // namespace kymo
