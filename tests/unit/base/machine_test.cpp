// SPDX-License-Identifier: Apache-2.0
#include "base/machine.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace kymo {
namespace {

TEST(ValueOfLine, IsFoundByTheWholeKey) {
  const auto file = std::filesystem::temp_directory_path() / ("kymo_lines_" + std::to_string(getpid()));
  std::ofstream(file) << "oom_killer 1\noom_kill 7\nmodel name\t: A: B  \nmodel name: C\n";
  EXPECT_EQ(value_of_line(file.c_str(), "oom_kill", ' '), "7");
  EXPECT_EQ(value_of_line(file.c_str(), "model name", ':'), "A: B");
  EXPECT_EQ(value_of_line(file.c_str(), "model", ':'), "");
  std::filesystem::remove(file);
  EXPECT_EQ(value_of_line(file.c_str(), "model name", ':'), "");
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

class Processors : public ::testing::Test {
 protected:
  ~Processors() override { std::filesystem::remove_all(root_); }
  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  const std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("kymo_root_" + std::to_string(getpid()));
};

TEST_F(Processors, AreThoseOfTheAffinityMaskWithoutAQuota) {
  const int all = available_processors(root_);
  EXPECT_GE(all, 1);
  write("proc/self/cgroup", "4:memory:/\n3:cpu,cpuacct:/a\n0::/a\n");
  write("sys/fs/cgroup/a/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(available_processors(root_), all);
}

TEST_F(Processors, AreLimitedByTheQuotaOfAGroupAbove) {
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/a/cpu.max", "50000 100000\n");
  EXPECT_EQ(available_processors(root_), 1);
}

TEST_F(Processors, AreLimitedByAQuotaOfVersion1) {
  write("proc/self/cgroup", "3:cpu,cpuacct:/a\n");
  write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "90000\n");
  write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(available_processors(root_), 1);
}

TEST(ProcessMemory, SomeHostMemoryIsAvailable) { EXPECT_GT(available_host_bytes().value_or(0), 0); }

}  // namespace
}  // namespace kymo
