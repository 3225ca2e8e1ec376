// SPDX-License-Identifier: Apache-2.0
#include "base/process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "unit/hang.hpp"

namespace kymo {
namespace {

TEST(Process, RunsToItsEndAndKeepsBothStreams) {
  const auto result = run_command({{"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, {}}, 10);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.end.exit_code, 3);
  EXPECT_EQ(result.stdout_text, "out\n");
  EXPECT_EQ(result.stderr_text, "err\n");
}

TEST(Process, EnvironmentIsAddedAndReplaced) {
  setenv("KYMO_TEST_A", "old", 1);
  const auto result = run_command(
      {{"/bin/sh", "-c", "echo $KYMO_TEST_A $KYMO_TEST_B"}, {{"KYMO_TEST_A", "new"}, {"KYMO_TEST_B", "more"}}}, 10);
  EXPECT_EQ(result.stdout_text, "new more\n");
}

TEST(Process, DeadlineKillsTheWholeGroup) {
  const auto start = now_ns();
  const auto result = run_command({{"/bin/sh", "-c", "sleep 10000 & echo $!; sleep 10000"}, {}}, 0.3);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.end.signal, SIGKILL);
  EXPECT_LT(now_ns() - start, std::chrono::nanoseconds(kymo::kHang).count());
  const pid_t grandchild = std::stoi(result.stdout_text);
  for (int i = 0; i < 100 && kill(grandchild, 0) == 0 && resident_bytes(grandchild).value_or(0) > 0; ++i)
    usleep(20'000);
  EXPECT_EQ(resident_bytes(grandchild).value_or(0), 0);
}

TEST(Process, SignalIsReported) {
  const auto result = run_command({{"/bin/sh", "-c", "kill -SEGV $$"}, {}}, 10);
  EXPECT_EQ(result.end.signal, SIGSEGV);
  EXPECT_NE(result.end.describe().find("signal 11"), std::string::npos);
}

TEST(Process, AProgramThatIsNotThereIsNamed) {
  try {
    run_command({{"/no/such/program"}, {}}, 1);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("/no/such/program"), std::string::npos) << e.what();
  }
}

TEST(Process, TheLastValueOfAVariableCounts) {
  SpawnOptions options;
  options.command = {"sh", "-c", "echo $KYMO_TEST_A $KYMO_TEST_B; env | grep -c KYMO_TEST_A"};
  options.environment = {{"KYMO_TEST_A", "first"}, {"KYMO_TEST_B", "other"}, {"KYMO_TEST_A", "last"}};
  EXPECT_EQ(run_command(options, 10).stdout_text, "last other\n1\n");
}

TEST(Process, AnEmptyElementOfPathIsNotTheCurrentDirectory) {
  const std::filesystem::path folder = make_private_folder("kymo-process-test");
  const std::filesystem::path before = std::filesystem::current_path();
  const std::string path = std::getenv("PATH");
  write_file(folder / "kymo-planted-program", "#!/bin/sh\nexit 0\n");
  std::filesystem::permissions(folder / "kymo-planted-program", std::filesystem::perms::owner_all);
  std::filesystem::current_path(folder);
  setenv("PATH", (":" + path + ":").c_str(), 1);
  EXPECT_EQ(find_program("kymo-planted-program"), std::nullopt);
  EXPECT_THROW(run_command({{"kymo-planted-program"}, {}}, 10), Error);
  EXPECT_EQ(run_command({{"./kymo-planted-program"}, {}}, 10).end.exit_code, 0);
  const std::vector<std::string> child{"sh", "-c", "kymo-planted-program 2>/dev/null || exit 9"};
  EXPECT_EQ(run_command({child, {}}, 10).end.exit_code, 9);
  setenv("PATH", path.c_str(), 1);
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

TEST(Process, AStopOfATracedProcessIsNotItsEnd) {
  ASSERT_TRUE(find_program("python3"));
  const auto result = run_command({{"python3", "-c",
                                    "import ctypes, os, signal\n"
                                    "assert ctypes.CDLL(None).ptrace(0, 0, 0, 0) == 0\n"  // PTRACE_TRACEME
                                    "os.kill(os.getpid(), signal.SIGWINCH)\n"
                                    "os._exit(7)"},
                                   {}},
                                  20);
  EXPECT_EQ(result.end.exit_code, 7) << result.end.describe() << result.stderr_text;
}

TEST(Process, MemoryOfATreeCountsSharedPagesOnce) {
  constexpr std::size_t kBytes = 64u << 20;
  // 64 MiB that two forked processes share, one of them in a session of its own, and 64 MiB of a third.
  const Child child = spawn({{"python3", "-c",
                              "import os, sys, time\n"
                              "shared = bytearray(b'x' * (64 << 20))\n"
                              "for own in (0, 0, 64 << 20):\n"
                              "    if os.fork() == 0:\n"
                              "        if own: os.setsid()\n"
                              "        more = bytearray(b'y' * own)\n"
                              "        print('ready', flush=True)\n"
                              "        time.sleep(10000)\n"
                              "time.sleep(10000)"},
                             {}});
  std::string output;
  const std::int64_t deadline_ns = now_ns() + std::chrono::nanoseconds(kymo::kHang).count();
  while (std::count(output.begin(), output.end(), '\n') < 3 && now_ns() < deadline_ns) {
    char block[64];
    const ssize_t got = read(child.stdout_fd, block, sizeof block);
    if (got > 0) output.append(block, static_cast<std::size_t>(got));
    usleep(1000);
  }
  const std::vector<pid_t> tree = process_tree(child.pid);
  const std::int64_t bytes = proportional_bytes(tree);
  for (const pid_t pid : tree) kill(pid, SIGKILL);
  while (!try_reap(child.pid)) usleep(1000);
  close(child.stdout_fd);
  close(child.stderr_fd);
  EXPECT_EQ(tree.size(), 4u) << output;
  EXPECT_GT(bytes, static_cast<std::int64_t>(2 * kBytes));
  EXPECT_LT(bytes, static_cast<std::int64_t>(3 * kBytes));
}

TEST(Process, NoDescriptorIsInherited) {
  const int inheritable = dup(STDOUT_FILENO);
  ASSERT_GT(inheritable, 2);
  const auto result = run_command({{"/bin/sh", "-c", "test -e /proc/self/fd/" + std::to_string(inheritable)}, {}}, 10);
  close(inheritable);
  EXPECT_EQ(result.end.exit_code, 1);
}

TEST(Process, AFloodIsBounded) {
  const auto result = run_command({{"/bin/sh", "-c", "head -c 30000000 /dev/zero | tr '\\0' x"}, {}}, 20);
  EXPECT_EQ(result.stdout_text.size(), 8u << 20);
  EXPECT_EQ(result.end.exit_code, 0);
}

TEST(Process, ResidentSizeOfThisProcess) {
  EXPECT_GT(resident_bytes(getpid()).value_or(0), 100'000);
  EXPECT_EQ(resident_bytes(-5), std::nullopt);
}

}  // namespace
}  // namespace kymo
