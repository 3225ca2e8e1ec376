// SPDX-License-Identifier: Apache-2.0
#include "measure/worker_place.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"

namespace kymo::measure {
namespace {

class WorkerPlaceTest : public testing::Test {
 protected:
  std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) / ("worker_place_" + std::to_string(getpid()));
  void TearDown() override { std::filesystem::remove(file_); }
};

TEST_F(WorkerPlaceTest, IsReadWhereItStands) {
  WorkerPlace place(file_, {"forward", "backward"});
  auto seen = WorkerPlace::read(file_);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->step, -1);
  EXPECT_EQ(seen->phase, "");
  place.set_step(7);
  place.set_phase(1);
  place.begin_collective();
  place.begin_collective();
  place.end_collective();
  seen = WorkerPlace::read(file_);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->step, 7);
  EXPECT_EQ(seen->phase, "backward");
  EXPECT_EQ(seen->collectives_begun, 2);
  EXPECT_EQ(seen->collectives_ended, 1);
}

TEST_F(WorkerPlaceTest, OutlivesAKilledProcess) {
  const pid_t child = fork();
  if (child == 0) {
    WorkerPlace place(file_, {"forward"});
    place.set_step(3);
    place.set_phase(0);
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  const auto seen = WorkerPlace::read(file_);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->step, 3);
  EXPECT_EQ(seen->phase, "forward");
}

TEST_F(WorkerPlaceTest, LongAndManyNamesAreCut) {
  std::vector<std::string> names(100, std::string(300, 'x'));
  WorkerPlace place(file_, names);
  place.set_phase(63);
  EXPECT_EQ(WorkerPlace::read(file_)->phase, std::string(47, 'x'));
  place.set_phase(64);
  EXPECT_EQ(WorkerPlace::read(file_)->phase, "");
}

TEST_F(WorkerPlaceTest, OtherFilesSayNothing) {
  EXPECT_FALSE(WorkerPlace::read(file_));
  std::ofstream(file_) << "short";
  EXPECT_FALSE(WorkerPlace::read(file_));
  WorkerPlace(file_, {}).set_step(1);
  const auto size = std::filesystem::file_size(file_);
  std::ofstream(file_, std::ios::trunc) << std::string(size, 'x');
  EXPECT_FALSE(WorkerPlace::read(file_));
  EXPECT_THROW(WorkerPlace("/nowhere/at/all", {}), Error);
}

}  // namespace
}  // namespace kymo::measure
