// SPDX-License-Identifier: Apache-2.0
#include "base/descendant_reaper.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/process.hpp"
#include "base/process_scan.hpp"

// All functions use only async-signal-safe operations: no allocation, no lock.
namespace kymo {
namespace {

constexpr int kMaxRounds = 2000;  ///< of killing processes that may start others in the meantime
constexpr useconds_t kRoundUs = 5000;

/// The parent of a process; 0 if it has ended.
pid_t parent_of(const char* pid) {
  std::array<char, 512> text{};
  stpcpy(stpcpy(stpcpy(text.data(), "/proc/"), pid), "/stat");
  const int file = open(text.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t size = read(file, text.data(), text.size() - 1);
  close(file);
  if (size <= 0) return 0;
  text[static_cast<std::size_t>(size)] = '\0';
  // "pid (name) state parent ...": the name may contain any character.
  const char* const name_end = std::strrchr(text.data(), ')');
  return name_end != nullptr && std::strlen(name_end) > 4 ? std::atoi(name_end + 4) : 0;
}

/// Reaps children that have ended. Returns false if there are no more children; stores how `command` ended.
bool reap_ended(pid_t command, int& status, bool& ended) {
  for (;;) {
    int its_status = 0;
    const pid_t got = waitpid(-1, &its_status, WNOHANG);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    if (continued_after_stop(got, its_status) || got != command) continue;
    status = its_status;
    ended = true;
  }
}

/// Ends this process as another one has ended, but without a core dump of its own.
[[noreturn]] void end_with(int status) {
  if (WIFSIGNALED(status)) {
    prctl(PR_SET_DUMPABLE, 0);
    signal(WTERMSIG(status), SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    kill(getpid(), WTERMSIG(status));
  }
  _exit(WEXITSTATUS(status));
}

[[noreturn]] void wait_and_kill(pid_t command, const sigset_t& awaited) {
  int status = SIGKILL;
  bool ended = false;
  bool has_children = reap_ended(command, status, ended);
  while (!ended && has_children) {
    siginfo_t received{};
    if (sigwaitinfo(&awaited, &received) == SIGTERM) break;
    has_children = reap_ended(command, status, ended);
  }
  for (int round = 0; round < kMaxRounds && has_children; ++round) {
    if (round > 0) usleep(kRoundUs);
    for_each_process([](const char* pid) {
      if (parent_of(pid) == getpid()) kill(std::atoi(pid), SIGKILL);
    });
    has_children = reap_ended(command, status, ended);
  }
  end_with(status);
}

}  // namespace

pid_t fork_below_reaper(pid_t parent, int report) {
  setpgid(0, 0);
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigaddset(&awaited, SIGTERM);
  sigprocmask(SIG_BLOCK, &awaited, nullptr);
  signal(SIGCHLD, SIG_DFL);  // if it is ignored, the end of a child cannot be waited for
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);  // the parent exited before the parent-death signal was set
  const pid_t reaper = getpid();
  const pid_t command = fork();
  if (command == 0) return reaper;
  if (command < 0) {
    const int reason = errno;
    [[maybe_unused]] const ssize_t written = ::write(report, &reason, sizeof reason);
    _exit(127);
  }
  prctl(PR_SET_NAME, "kymo-reaper");
  for (const int number : {SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP}) signal(number, SIG_IGN);
  close_range(0, ~0U, 0);
  wait_and_kill(command, awaited);
}

}  // namespace kymo
