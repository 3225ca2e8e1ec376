// SPDX-License-Identifier: Apache-2.0
#include "supervisor/worker_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "base/error.hpp"
#include "supervisor/output_capture.hpp"
#include "supervisor/process_reaper.hpp"
#include "unit/hang.hpp"

namespace kymo::supervisor {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr auto kPatience = kymo::kHang;

bool wait_until(const std::function<bool()>& ready) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!ready() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return ready();
}

/// Running, and not a zombie waiting to be reaped.
bool is_running(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(in, line)) return false;
  const char state = line[line.rfind(')') + 2];
  return state != 'Z' && state != 'X';
}

class WorkerProcessTest : public testing::Test {
 protected:
  std::unique_ptr<WorkerProcess> shell(const std::string& script) {
    return std::make_unique<WorkerProcess>(loop_, SpawnOptions{{"/bin/sh", "-c", script}, {}, true}, reaper_);
  }
  ProcessEnd end_of(WorkerProcess& process) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!process.poll_end() && std::chrono::steady_clock::now() < deadline)
      loop_.run_for(std::chrono::milliseconds(2));
    EXPECT_TRUE(process.poll_end().has_value());
    return process.poll_end().value_or(ProcessEnd{});
  }
  ProcessReaper reaper_;
  boost::asio::io_context loop_;
};

TEST_F(WorkerProcessTest, TellsHowItEndedAndWhatItSaid) {
  auto process = shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(end_of(*process).exit_code, 3);
  EXPECT_EQ(process->last_line(), "err");
  const auto output = process->take_output();
  EXPECT_EQ(output.stdout_text, "out\n");
  EXPECT_EQ(output.stderr_text, "err\n");
  EXPECT_EQ(process->take_output().stdout_text, "");
}

TEST_F(WorkerProcessTest, CannotStartWhatIsNotThere) {
  EXPECT_THROW(WorkerProcess(loop_, SpawnOptions{{"/nowhere/at/all"}, {}, true}, reaper_), Error);
}

TEST_F(WorkerProcessTest, AFloodNeitherFillsMemoryNorBlocksTheWriter) {
  auto process = shell("echo first; head -c 67108864 /dev/zero; echo last");
  EXPECT_EQ(end_of(*process).exit_code, 0);
  const auto output = process->take_output();
  EXPECT_LT(output.stdout_text.size(), 4 * (OutputCapture::kHeadBytes + OutputCapture::kTailBytes))
      << "a replaced byte takes three";
  EXPECT_THAT(output.stdout_text, StartsWith("first\n"));
  EXPECT_THAT(output.stdout_text, HasSubstr("last\n"));
  EXPECT_THAT(output.stdout_text, HasSubstr("of 67108875 bytes omitted"));
}

TEST_F(WorkerProcessTest, NothingOfItsGroupSurvivesIt) {
  auto process = shell("sleep 600 & echo $!; sleep 600 & echo $!; kill -9 $$");
  EXPECT_EQ(end_of(*process).signal, SIGKILL);
  std::istringstream numbers(process->take_output().stdout_text);
  pid_t grandchild = 0;
  int count = 0;
  for (; numbers >> grandchild; ++count) EXPECT_TRUE(wait_until([&] { return !is_running(grandchild); }));
  EXPECT_EQ(count, 2);
}

TEST_F(WorkerProcessTest, EndsThoughADetachedProcessHoldsItsPipes) {
  auto process = shell("setsid sleep 600 & echo $!; sleep 0.2");
  EXPECT_EQ(end_of(*process).exit_code, 0);
  std::istringstream numbers(process->take_output().stdout_text);
  pid_t detached = 0;
  ASSERT_TRUE(numbers >> detached);
  EXPECT_TRUE(is_running(detached));
  EXPECT_THAT(reaper_.end_detached(), testing::ElementsAre("sleep"));
  EXPECT_FALSE(is_running(detached));
  EXPECT_THAT(reaper_.end_detached(), testing::IsEmpty());
}

TEST_F(WorkerProcessTest, ADetachedProcessIsNoticedWhileItsWorkerRuns) {
  auto plain = shell("sleep 600 & sleep 600");
  EXPECT_FALSE(reaper_.has_detached()) << "its child is in its group";
  auto orphan = shell("(setsid sleep 600 &); echo started; sleep 600");
  EXPECT_TRUE(wait_until([&] { return reaper_.has_detached(); }));
  EXPECT_THAT(reaper_.end_detached(), testing::SizeIs(1));
  EXPECT_FALSE(reaper_.has_detached());
  auto child = shell("setsid sleep 600 & wait");
  EXPECT_TRUE(wait_until([&] { return reaper_.has_detached(); }));
  EXPECT_THAT(reaper_.end_detached(), testing::IsEmpty()) << "its worker runs";
}

TEST_F(WorkerProcessTest, ADescendantWithAnEmptyEnvironmentIsAdopted) {
  auto process = shell("env -i /usr/bin/setsid /bin/sh -c 'sleep 600; true' & sleep 0.3");
  EXPECT_EQ(end_of(*process).exit_code, 0);
  EXPECT_THAT(reaper_.end_detached(), testing::UnorderedElementsAre("sh", "sleep"));
}

TEST_F(WorkerProcessTest, ItsDestructionEndsTheGroup) {
  auto process = shell("trap '' TERM INT; sleep 600 & wait");
  const pid_t pid = process->pid();
  process.reset();
  // The grandchild is a zombie until its new parent reaps it, and counts as a member of the process group until then.
  EXPECT_THAT(reaper_.end_detached(), testing::IsEmpty()) << "it had not left the group";
  EXPECT_TRUE(wait_until([&] { return kill(-pid, 0) == -1 && errno == ESRCH; }));
}

TEST_F(WorkerProcessTest, BelievesOnlyAProcessOfItsOwnGroup) {
  auto process = shell("sleep 600");
  process->announce(getpid());
  EXPECT_EQ(process->worker_pid(), process->pid());
  process->announce(1);
  EXPECT_EQ(process->worker_pid(), process->pid());
}

/// Starts a separate supervisor, kills it, and checks what remains of its workers.
TEST(ProcessReaper, EndsAllProcessesOfAKilledSupervisor) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t supervisor = fork();
  if (supervisor == 0) {
    ProcessReaper reaper;
    boost::asio::io_context loop;
    WorkerProcess process(
        loop, SpawnOptions{{"/bin/sh", "-c", "setsid sleep 600 & echo $!; sleep 600 & echo $!; wait"}, {}, true},
        reaper);
    std::string text;
    while (std::count(text.begin(), text.end(), '\n') < 2) {
      loop.run_for(std::chrono::milliseconds(5));
      text += process.take_output().stdout_text;
    }
    std::array<pid_t, 3> pids{process.pid()};
    std::istringstream(text) >> pids[1] >> pids[2];
    if (write(pipe_ends[1], pids.data(), sizeof pids) != sizeof pids) _exit(1);
    for (;;) pause();
  }
  std::array<pid_t, 3> pids{};
  ASSERT_EQ(read(pipe_ends[0], pids.data(), sizeof pids), static_cast<ssize_t>(sizeof pids));
  for (const pid_t pid : pids) EXPECT_TRUE(is_running(pid));
  kill(supervisor, SIGKILL);
  waitpid(supervisor, nullptr, 0);
  for (const pid_t pid : pids) EXPECT_TRUE(wait_until([&] { return !is_running(pid); })) << pid;
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST(ProcessReaper, ItsOwnDeathHarmsNobody) {
  ProcessReaper reaper;
  std::ifstream children("/proc/self/task/" + std::to_string(gettid()) + "/children");
  pid_t its_pid = 0;
  for (pid_t pid = 0; children >> pid;) its_pid = pid;
  ASSERT_GT(its_pid, 0);
  kill(its_pid, SIGKILL);
  ASSERT_TRUE(wait_until([&] { return !is_running(its_pid); }));
  reaper.watch(1 << 22);
  reaper.forget(1 << 22);
}

TEST(ProcessReaper, LeavesForgottenGroupsAlone) {
  boost::asio::io_context loop;
  ProcessReaper other;
  WorkerProcess process(loop, SpawnOptions{{"/bin/sh", "-c", "sleep 600"}, {}, true}, other);
  {
    ProcessReaper reaper;
    reaper.watch(process.pid());
    reaper.forget(process.pid());
  }
  EXPECT_TRUE(is_running(process.pid()));
}

}  // namespace
}  // namespace kymo::supervisor
