// SPDX-License-Identifier: Apache-2.0
#include "base/limited_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.hpp"
#include "base/process_activity.hpp"
#include "base/text.hpp"

namespace kymo {
namespace {

constexpr double kNever = 1e6;
constexpr std::int64_t kSecond = 1'000'000'000;

LimitedResult result_of(const std::string& script, const CommandLimits& limits,
                        const std::vector<std::string>& shell = {"/bin/sh", "-c"}) {
  LimitedCommand command{{.command = shell, .environment = {}}, limits};
  command.options.command.push_back(script);
  LimitedResult result;
  run_limited({command}, 1, [&](std::size_t, const LimitedResult& ended) { result = ended; }, nullptr);
  return result;
}

bool is_alive(pid_t pid) { return kill(pid, 0) == 0; }

TEST(LimitedCommand, EndsAsTheCommandDoes) {
  const LimitedResult exited = result_of("echo out; echo err >&2; exit 3", {kNever, kNever});
  EXPECT_EQ(exited.end.exit_code, 3);
  EXPECT_EQ(exited.stdout_text, "out\n");
  EXPECT_EQ(exited.stderr_text, "err\n");
  EXPECT_EQ(exited.exceeded, std::nullopt);
  EXPECT_EQ(result_of("kill -SEGV $$", {kNever, kNever}).end.signal, SIGSEGV);
}

TEST(LimitedCommand, SaysWhyItCouldNotBeStarted) {
  EXPECT_THAT(result_of("", {kNever, kNever}, {"/no/such/program"}).not_started,
              testing::HasSubstr("/no/such/program"));
}

TEST(LimitedCommand, MayWaitLongerThanItsProcessorTime) {
  const LimitedResult result = result_of("sleep 1; echo awake", {0.5, kNever});
  EXPECT_EQ(result.exceeded, std::nullopt);
  EXPECT_EQ(result.stdout_text, "awake\n");
}

TEST(LimitedCommand, IsKilledForItsProcessorTimeAndThatOfDescendants) {
  const LimitedResult itself = result_of("while :; do :; done", {0.2, kNever});
  EXPECT_EQ(itself.exceeded, CommandLimit::kProcessorTime);
  EXPECT_EQ(itself.end.signal, SIGKILL);
  EXPECT_EQ(result_of("(while :; do :; done) & wait", {0.2, kNever}).exceeded, CommandLimit::kProcessorTime);
  EXPECT_EQ(result_of("setsid sh -c 'while :; do :; done' & sleep 1000", {0.2, kNever}).exceeded,
            CommandLimit::kProcessorTime);
}

TEST(LimitedCommand, IsKilledIfItSleepsForTooLong) {
  EXPECT_EQ(result_of("sleep 1000", {kNever, 0.5}).exceeded, CommandLimit::kIdleTime);
  const LimitedResult polls = result_of("import time\nwhile True: time.sleep(0.05)", {kNever, 0.5}, {"python3", "-c"});
  EXPECT_EQ(polls.exceeded, CommandLimit::kIdleTime) << "although it uses a processor now and then";
}

TEST(LimitedCommand, LeavesNoProcessBehind) {
  // Not even one in a session of its own, which keeps the pipe open.
  const LimitedResult ended = result_of("setsid sleep 1000 & echo $!", {kNever, kNever});
  EXPECT_EQ(ended.end.exit_code, 0);
  EXPECT_FALSE(is_alive(std::stoi(ended.stdout_text)));
  const LimitedResult killed = result_of("setsid sleep 1000 & echo $!; sleep 1000", {kNever, 0.5});
  EXPECT_EQ(killed.exceeded, CommandLimit::kIdleTime);
  EXPECT_FALSE(is_alive(std::stoi(killed.stdout_text)));
}

class LimitedCommands : public testing::Test {
 protected:
  ~LimitedCommands() override { std::filesystem::remove_all(folder_); }
  const std::filesystem::path folder_ = make_private_folder("kymo-limited-test");
};

TEST_F(LimitedCommands, DoNotOutliveTheirCaller) {
  const std::filesystem::path file = folder_ / "processes";
  const pid_t caller = fork();
  if (caller == 0) {
    result_of("setsid sleep 1000 & echo $! $$ > '" + file.string() + ".new'; mv '" + file.string() + ".new' '" +
                  file.string() + "'; sleep 1000",
              {kNever, kNever});
    _exit(0);
  }
  while (!std::filesystem::exists(file)) usleep(10'000);
  kill(caller, SIGKILL);
  ASSERT_EQ(waitpid(caller, nullptr, 0), caller);
  for (const std::string& pid : split(trim(read_file(file)), ' ')) {
    const auto runs = [&] {
      const auto all = list_processes();
      return std::ranges::any_of(all,
                                 [&](const auto& each) { return each.pid == std::stoi(pid) && each.state != 'Z'; });
    };
    while (runs()) usleep(10'000);  // until the time limit of the test
  }
}

TEST_F(LimitedCommands, RunAtMostSoManyAtATime) {
  // Each waits until two have been seen at a time, and counts those that run.
  const std::string script = "cd '" + folder_.string() +
                             "'; mkdir -p now; : > now/$$\n"
                             "while [ ! -e two ]; do [ $(ls now | wc -l) -lt 2 ] || : > two; sleep 0.01; done\n"
                             "ls now | wc -l; rm now/$$";
  const LimitedCommand command{{.command = {"/bin/sh", "-c", script}, .environment = {}}, {kNever, kNever}};
  std::vector<std::size_t> ended;
  std::vector<int> counts;
  run_limited(
      std::vector<LimitedCommand>(6, command), 2,
      [&](std::size_t index, const LimitedResult& result) {
        ended.push_back(index);
        counts.push_back(std::stoi(result.stdout_text));
      },
      nullptr);
  EXPECT_THAT(ended, testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_LE(*std::ranges::max_element(counts), 2);
}

TEST(IdleTime, CountsOnlyTimeWithoutWork) {
  IdleTime idle(0);
  ProcessActivity activity;
  std::int64_t now_ns = 0;
  const auto wait = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) idle.add(activity, now_ns += kSecond);
  };
  activity.uses_processor = true;
  wait(100);
  EXPECT_EQ(idle.seconds(), 0) << "it waits for a processor";
  activity.uses_processor = false;
  for (int i = 0; i < 100; ++i) {
    activity.reads += 4096;
    wait(1);
  }
  EXPECT_EQ(idle.seconds(), 0) << "it reads";
  for (int i = 0; i < 100; ++i) {
    activity.processor_ns += kSecond;
    wait(1);
  }
  EXPECT_EQ(idle.seconds(), 0) << "it computed until just now";
  wait(3);
  EXPECT_EQ(idle.seconds(), 3);
  activity.processor_ns += kSecond / 4;
  wait(1);
  EXPECT_EQ(idle.seconds(), 3.75) << "work does not reset it";
}

TEST(IdleTime, CountsADiskThatDoesNotAnswer) {
  IdleTime idle(0);
  ProcessActivity activity;
  activity.waits_for_disk = true;
  activity.reads = 1;
  for (int second = 1; second <= 11; ++second) idle.add(activity, second * kSecond);
  EXPECT_EQ(idle.seconds(), 10);
  activity.reads = 2;
  idle.add(activity, 12 * kSecond);
  EXPECT_EQ(idle.seconds(), 0);
}

TEST(IdleTime, DoesNotCountAnInterruptionOfTheCaller) {
  IdleTime idle(0);
  idle.add({}, 1000 * kSecond);
  EXPECT_EQ(idle.seconds(), 1);
}

}  // namespace
}  // namespace kymo
