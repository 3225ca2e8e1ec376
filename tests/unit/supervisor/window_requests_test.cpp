// SPDX-License-Identifier: Apache-2.0
#include "supervisor/window_requests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kymo::supervisor {
namespace {

TEST(Proposal, AllProcessesBeginAtTheProposedStep) {
  std::uint64_t proposal = kymo_proposal(10, 2);
  std::int64_t first = -1, second = -1;
  EXPECT_FALSE(kymo_window_begins(&proposal, 8, &first));
  EXPECT_FALSE(kymo_window_begins(&proposal, 9, &first));
  EXPECT_FALSE(kymo_window_begins(&proposal, 9, &second));
  EXPECT_TRUE(kymo_window_begins(&proposal, 10, &first));
  EXPECT_TRUE(kymo_window_begins(&proposal, 10, &second));
}

TEST(Proposal, FailsForAllIfAProcessReachesTheStepBeforeOthersHaveAccepted) {
  std::uint64_t proposal = kymo_proposal(10, 2);
  std::int64_t first = -1, second = -1;
  EXPECT_FALSE(kymo_window_begins(&proposal, 9, &first));
  EXPECT_FALSE(kymo_window_begins(&proposal, 10, &first)) << "the other one has not accepted";
  EXPECT_TRUE(kymo_proposal_failed(proposal));
  EXPECT_FALSE(kymo_window_begins(&proposal, 9, &second));
  EXPECT_FALSE(kymo_window_begins(&proposal, 10, &second));
}

TEST(Proposal, FailsIfAProcessIsBeyondTheStep) {
  std::uint64_t proposal = kymo_proposal(10, 2);
  std::int64_t first = -1, second = -1;
  EXPECT_FALSE(kymo_window_begins(&proposal, 9, &first));
  EXPECT_FALSE(kymo_window_begins(&proposal, 12, &second));
  EXPECT_FALSE(kymo_window_begins(&proposal, 10, &first));
}

/// Processes that wait for each other now and then, with proposals of any distance, either all begin at a step or none
/// does.
TEST(Proposal, ProcessesNeverBeginAtDifferentSteps) {
  constexpr int kProcesses = 4;
  constexpr std::int64_t kSteps = 20'000;
  std::uint64_t proposal = 0;
  std::vector<std::atomic<std::int64_t>> steps(kProcesses);
  std::vector<std::set<std::int64_t>> begun(kProcesses);
  std::barrier together(kProcesses + 1), in_step(kProcesses);
  std::vector<std::thread> processes;
  for (std::size_t i = 0; i < kProcesses; ++i)
    processes.emplace_back([&, i] {
      std::int64_t accepted = -1;
      together.arrive_and_wait();
      for (std::int64_t step = 1; step <= kSteps; ++step) {
        steps[i] = step;
        if (kymo_window_begins(&proposal, step, &accepted)) begun[i].insert(accepted);
        if (step % 32 == 0) in_step.arrive_and_wait();
      }
    });
  together.arrive_and_wait();
  const auto furthest = [&] {
    return std::ranges::max_element(steps, {}, [](const auto& each) { return each.load(); })->load();
  };
  for (std::int64_t first = 0; (first = furthest() + 1 + first * 7 % 64) < kSteps - 1;) {
    __atomic_store_n(&proposal, kymo_proposal(first, kProcesses), __ATOMIC_RELEASE);
    while (furthest() <= first) std::this_thread::yield();
    // As the supervisor, which makes no proposal before all have begun the window that was agreed on.
    const std::uint64_t decided = __atomic_load_n(&proposal, __ATOMIC_ACQUIRE);
    if (!kymo_proposal_failed(decided) && kymo_proposal_missing(decided) == 0)
      while (std::ranges::any_of(steps, [&](const auto& each) { return each <= first; })) std::this_thread::yield();
  }
  for (std::thread& process : processes) process.join();
  for (const auto& each : begun) EXPECT_EQ(each, begun.front());
  EXPECT_THAT(begun.front(), testing::Not(testing::IsEmpty()));
}

struct WindowRequestsTest : testing::Test {
  WindowRequestsTest() : folder(make_private_folder("kymo-windows")), file(folder / "windows") {}
  ~WindowRequestsTest() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder, file;
};

TEST_F(WindowRequestsTest, OneRequestAtATime) {
  WindowRequests supervisor(file, "/tmp/some.db");
  WindowRequests observer(file);
  EXPECT_EQ(observer.database(), "/tmp/some.db");
  EXPECT_EQ(observer.supervisor(), getpid());
  EXPECT_FALSE(supervisor.requested());
  EXPECT_TRUE(observer.request(7));
  EXPECT_FALSE(observer.request(8));
  EXPECT_EQ(supervisor.requested(), 7);
  supervisor.answer(3);
  EXPECT_FALSE(observer.is_pending());
  EXPECT_EQ(observer.run(), 3);
  EXPECT_TRUE(observer.request(8));
}

TEST_F(WindowRequestsTest, ProposesAStepThatNoRunningProcessHasReached) {
  WindowRequests supervisor(file, "/tmp/some.db");
  const std::string content = read_file(file);
  kymo_window_page page = *reinterpret_cast<const kymo_window_page*>(content.data());
  supervisor.propose();
  EXPECT_EQ(supervisor.agreed_step(), 0) << "no process makes steps";
  page.processes = 2;
  page.process[0] = {getpid(), 40};
  page.process[1] = {std::numeric_limits<std::int32_t>::max(), 900};  // has ended
  {
    std::fstream opened(file, std::ios::in | std::ios::out | std::ios::binary);
    opened.write(reinterpret_cast<const char*>(&page), sizeof page);
  }
  supervisor.propose();
  EXPECT_EQ(supervisor.agreed_step(), 42);
  supervisor.propose();
  EXPECT_EQ(supervisor.agreed_step(), 42) << "it has not failed";
}

TEST_F(WindowRequestsTest, RejectsOtherFiles) {
  EXPECT_THROW(WindowRequests(folder / "missing"), Error);
  write_file(file, "something else");
  EXPECT_THROW(WindowRequests{file}, Error);
}

}  // namespace
}  // namespace kymo::supervisor
