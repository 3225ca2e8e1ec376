// SPDX-License-Identifier: Apache-2.0
#include "worker/scheduling.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <string>

#include "unit/worker/proc_folder.hpp"

namespace kymo::worker {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

class SchedulingTest : public ProcFolderTest {
 protected:
  void thread_waited(int thread, std::int64_t wait_ns) const {
    put("self/task/" + std::to_string(thread) + "/schedstat", "77 " + std::to_string(wait_ns) + " 5\n");
  }
};

TEST_F(SchedulingTest, SumsTheWaitsOfThreadsAndKeepsTheLongest) {
  thread_waited(10, 100);
  thread_waited(11, 1'000);
  thread_waited(12, 5'000);
  SchedulingLog log(proc);
  log.begin(1 * kMillisecond);
  thread_waited(10, 130);
  thread_waited(11, 1'500);
  thread_waited(12, 40);  // a new thread with an old number
  thread_waited(13, 7);   // a new thread
  EXPECT_FALSE(log.add(4, 1, {2 * kMillisecond, 1}, 2 * kMillisecond));
  EXPECT_TRUE(log.add(5, 1, {3 * kMillisecond, 2}, 61 * kMillisecond)) << "reads /proc";
  thread_waited(11, 1'501);
  std::filesystem::remove_all(proc / "self/task/10");
  log.add(6, 1, {1 * kMillisecond, 0}, 70 * kMillisecond);
  log.end(72 * kMillisecond);
  const auto blocks = log.take(1 * kMillisecond);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].step, 5);
  EXPECT_EQ(blocks[0].steps, 2);
  EXPECT_EQ(blocks[0].start_ns, 0);
  EXPECT_EQ(blocks[0].wall_ns, 60 * kMillisecond);
  EXPECT_EQ(blocks[0].cpu_ns, 5 * kMillisecond);
  EXPECT_EQ(blocks[0].involuntary_switches, 3);
  EXPECT_EQ(blocks[0].threads, 4);
  EXPECT_EQ(blocks[0].wait_ns, 30 + 500 + 40 + 7);
  EXPECT_EQ(blocks[0].longest_wait_ns, 500);
  EXPECT_EQ(blocks[1].step, 6);
  EXPECT_EQ(blocks[1].threads, 3);
  EXPECT_EQ(blocks[1].wait_ns, 1);
  EXPECT_GE(blocks[1].start_ns, 60 * kMillisecond);
}

TEST_F(SchedulingTest, StoresTheLoadOfTheMachine) {
  put("pressure/cpu", "some avg10=1.00 avg60=2.00 avg300=3.00 total=2000\nfull avg10=0.00 total=9\n");
  SchedulingLog log(proc);
  log.begin(0);
  put("pressure/cpu", "some avg10=1.00 avg60=2.00 avg300=3.00 total=2500\nfull avg10=0.00 total=9\n");
  put("loadavg", "3.25 2.00 1.00 4/200 1234\n");
  log.add(0, 1, {}, 60 * kMillisecond);
  const auto blocks = log.take(0);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].pressure_ns, 500'000);
  EXPECT_DOUBLE_EQ(blocks[0].load_average.value(), 3.25);
}

TEST_F(SchedulingTest, CountsSwitchesWhereTheSystemDoesNotCountWaits) {
  std::filesystem::create_directories(proc / "self/task/10");
  SchedulingLog log(proc);
  log.begin(0);
  log.add(0, 1, {1 * kMillisecond, 8}, 60 * kMillisecond);
  const auto blocks = log.take(0);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].involuntary_switches, 8);
  EXPECT_FALSE(blocks[0].threads);
  EXPECT_FALSE(blocks[0].wait_ns);
  EXPECT_FALSE(blocks[0].longest_wait_ns);
  EXPECT_FALSE(blocks[0].pressure_ns);
  EXPECT_FALSE(blocks[0].load_average);
}

TEST_F(SchedulingTest, WithoutAStepThereIsNoBlock) {
  SchedulingLog log(proc);
  log.begin(0);
  log.end(60 * kMillisecond);
  EXPECT_TRUE(log.take(0).empty());
}

TEST(ProcessUsages, CountTheProcessorTimeOfThisProcess) {
  const auto thread_cpu_ns = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1'000 * kMillisecond + time.tv_nsec;
  };
  const ProcessUsage before = process_usage();
  const std::int64_t since_ns = thread_cpu_ns();
  while (thread_cpu_ns() - since_ns < 20 * kMillisecond) {
  }
  const ProcessUsage used = process_usage() - before;
  EXPECT_GE(used.cpu_ns, 19 * kMillisecond);
  EXPECT_GE(used.involuntary_switches, 0);
}

}  // namespace
}  // namespace kymo::worker
