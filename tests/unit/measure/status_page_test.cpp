// SPDX-License-Identifier: Apache-2.0
#include "measure/status_page.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"

namespace kymo::measure {
namespace {

class StatusPageTest : public testing::Test {
 protected:
  std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) / ("worker_place_" + std::to_string(getpid()));
  void TearDown() override { std::filesystem::remove(file_); }
};

TEST_F(StatusPageTest, IsReadFromThePage) {
  StatusPage page(file_, {"forward", "backward"});
  auto seen = StatusPage::read(file_);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->step, -1);
  EXPECT_EQ(seen->phase, "");
  page.set_step(7);
  page.set_phase(1);
  page.begin_collective("all_reduce", "world", 4, 4096);
  page.begin_collective(nullptr, "data", 0, 1);
  page.end_collective();
  seen = StatusPage::read(file_);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->step, 7);
  EXPECT_EQ(seen->phase, "backward");
  EXPECT_EQ(seen->collectives_begun, 2);
  EXPECT_EQ(seen->collectives_ended, 1);
  ASSERT_EQ(seen->last_collectives.size(), 1u) << "that of the second call is unknown";
  const BegunCollective& call = seen->last_collectives[0];
  EXPECT_EQ(call.number, 1);
  EXPECT_EQ(call.operation, "all_reduce");
  EXPECT_EQ(call.communicator, "world");
  EXPECT_EQ(call.sequence, 4);
  EXPECT_EQ(call.bytes, 4096);
}

TEST_F(StatusPageTest, HasTheLatestCollectivesInTheirOrder) {
  StatusPage page(file_, {});
  constexpr std::int64_t kCalls = 2 * StatusPage::kLastCollectives + 3;
  for (std::int64_t call = 1; call <= kCalls; ++call)
    page.begin_collective("send", std::string(100, 'c').c_str(), call, call);
  page.begin_collective("send", nullptr, 0, 0);
  const auto seen = StatusPage::read(file_);
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->last_collectives.size(), StatusPage::kLastCollectives);
  EXPECT_EQ(seen->last_collectives.front().number,
            kCalls + 2 - static_cast<std::int64_t>(StatusPage::kLastCollectives));
  EXPECT_EQ(seen->last_collectives.front().communicator, std::string(47, 'c')) << "truncated";
  EXPECT_EQ(seen->last_collectives.back().number, kCalls + 1);
  EXPECT_EQ(seen->last_collectives.back().communicator, "") << "nothing is left of a longer name";
}

TEST_F(StatusPageTest, OutlivesAKilledProcess) {
  const pid_t child = fork();
  if (child == 0) {
    StatusPage page(file_, {"forward"});
    page.set_step(3);
    page.set_phase(0);
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  const auto seen = StatusPage::read(file_);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->step, 3);
  EXPECT_EQ(seen->phase, "forward");
}

TEST_F(StatusPageTest, MayBeTruncated) {
  StatusPage page(file_, {"forward"});
  std::filesystem::resize_file(file_, 0);
  page.set_step(3);
  EXPECT_FALSE(StatusPage::read(file_));
}

TEST_F(StatusPageTest, LongAndManyNamesAreCut) {
  std::vector<std::string> names(100, std::string(300, 'x'));
  StatusPage page(file_, names);
  page.set_phase(63);
  EXPECT_EQ(StatusPage::read(file_)->phase, std::string(47, 'x'));
  page.set_phase(64);
  EXPECT_EQ(StatusPage::read(file_)->phase, "");
}

TEST_F(StatusPageTest, OtherFilesSayNothing) {
  EXPECT_FALSE(StatusPage::read(file_));
  std::ofstream(file_) << "short";
  EXPECT_FALSE(StatusPage::read(file_));
  StatusPage(file_, {}).set_step(1);
  const auto size = std::filesystem::file_size(file_);
  std::ofstream(file_, std::ios::trunc) << std::string(size, 'x');
  EXPECT_FALSE(StatusPage::read(file_));
  EXPECT_THROW(StatusPage("/nowhere/at/all", {}), Error);
}

}  // namespace
}  // namespace kymo::measure
