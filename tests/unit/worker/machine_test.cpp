// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "worker/cpu_device.hpp"
#include "worker/process_memory.hpp"

namespace kymo::worker {
namespace {

TEST(CpuDevice, HasANameAndAStableIdentity) {
  const event::Device device = cpu_device();
  EXPECT_EQ(device.kind, "cpu");
  EXPECT_FALSE(device.name.empty());
  EXPECT_EQ(device.uuid.size(), std::strlen("CPU-") + 32);
  EXPECT_EQ(device.uuid, cpu_device().uuid);
  EXPECT_GT(device.memory_bytes, 1 << 20);
  EXPECT_GT(device.multiprocessors.value_or(0), 0);
}

TEST(ProcessMemory, ThePeakFollowsWhatIsTouched) {
  constexpr std::int64_t kBytes = 64 << 20;
  reset_peak_resident();
  const std::int64_t before = peak_resident_bytes().value();
  // Mapped directly, because an allocator may keep freed memory resident.
  void* block = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  std::memset(block, 1, kBytes);
  EXPECT_GE(peak_resident_bytes().value(), before + kBytes * 9 / 10);
  ASSERT_EQ(munmap(block, kBytes), 0);
  if (reset_peak_resident()) {
    EXPECT_LT(peak_resident_bytes().value(), before + kBytes / 2);
  }
}

TEST(ProcessMemory, SomeHostMemoryIsAvailable) { EXPECT_GT(available_host_bytes().value_or(0), 0); }

}  // namespace
}  // namespace kymo::worker
