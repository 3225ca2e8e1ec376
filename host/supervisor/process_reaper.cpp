// SPDX-License-Identifier: Apache-2.0
#include "supervisor/process_reaper.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace kymo::supervisor {
namespace {

constexpr std::size_t kMaxGroups = 4096;

/// Uses only async-signal-safe operations after fork: no allocation, no lock. A positive number adds a group, a
/// negative one removes it.
[[noreturn]] void guard(int channel) {
  setsid();
  prctl(PR_SET_NAME, "kymo-reaper");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) signal(number, SIG_IGN);
  dup2(channel, 0);
  close_range(1, ~0U, 0);
  static std::array<pid_t, kMaxGroups> groups{};
  pid_t message = 0;
  for (;;) {
    const ssize_t got = read(0, &message, sizeof message);
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof message) break;
    const pid_t from = message > 0 ? 0 : -message;
    for (auto& group : groups) {
      if (group != from) continue;
      group = message > 0 ? message : 0;
      break;
    }
  }
  for (const pid_t group : groups)
    if (group > 0) kill(-group, SIGKILL);
  _exit(0);
}

}  // namespace

ProcessReaper::ProcessReaper() {
  std::array<int, 2> ends{-1, -1};
  // Not a pipe: writing to a pipe without a reader would terminate this process with SIGPIPE.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw Error(std::string("cannot create a socket pair: ") + std::strerror(errno));
  pid_ = fork();
  if (pid_ == 0) {
    close(ends[1]);
    guard(ends[0]);
  }
  close(ends[0]);
  channel_ = ends[1];
  if (pid_ < 0) {
    const int reason = errno;
    close(channel_);
    throw Error(std::string("cannot start a process: ") + std::strerror(reason));
  }
}

ProcessReaper::~ProcessReaper() {
  close(channel_);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ProcessReaper::watch(pid_t group) { send_message(group); }
void ProcessReaper::forget(pid_t group) { send_message(-group); }

void ProcessReaper::send_message(pid_t message) {
  while (send(channel_, &message, sizeof message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

}  // namespace kymo::supervisor
