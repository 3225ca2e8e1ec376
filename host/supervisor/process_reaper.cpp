// SPDX-License-Identifier: Apache-2.0
#include "supervisor/process_reaper.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/process_scan.hpp"
#include "supervisor/steady_seconds.hpp"

namespace kymo::supervisor {
namespace {

constexpr std::size_t kMaxGroups = 4096;
constexpr int kMaxRounds = 200;  ///< of killing processes that may start others in the meantime
constexpr useconds_t kRoundUs = 5000;

// The functions of the reaper process use only async-signal-safe operations: no allocation, no lock.

/// True if the process was started with this text in its environment.
bool has_in_environment(const char* pid, std::string_view text) {
  static std::array<char, 1 << 16> block;
  std::array<char, sizeof(dirent64::d_name) + sizeof "/proc//environ"> path{};
  stpcpy(stpcpy(stpcpy(path.data(), "/proc/"), pid), "/environ");
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool found = false;
  std::size_t kept = 0;  // the end of the previous block, where the text may begin
  for (ssize_t got = 0; !found && (got = read(file, block.data() + kept, block.size() - kept)) > 0;) {
    const std::size_t size = kept + static_cast<std::size_t>(got);
    found = memmem(block.data(), size, text.data(), text.size()) != nullptr;
    kept = std::min(size, text.size() - 1);
    std::memmove(block.data(), block.data() + size - kept, kept);
  }
  close(file);
  return found;
}

/// Kills all processes that were started with this text in their environment; false if there was none.
bool kill_with(std::string_view environment) {
  bool found = false;
  for_each_process([&](const char* name) {
    const int pid = std::atoi(name);
    if (pid <= 1 || pid == getpid() || !has_in_environment(name, environment)) return;
    found = kill(pid, SIGKILL) == 0 || found;
  });
  return found;
}

/// A positive number adds a group, a negative one removes it.
[[noreturn]] void guard(int channel, std::string_view environment) {
  setsid();
  prctl(PR_SET_NAME, "kymo-reaper");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP}) signal(number, SIG_IGN);
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
  for (int round = 0; round < kMaxRounds && kill_with(environment); ++round) usleep(kRoundUs);
  _exit(0);
}

}  // namespace

ProcessReaper::ProcessReaper() : value_(random_token()) {
  std::array<int, 2> ends{-1, -1};
  // Not a pipe: writing to a pipe without a reader would terminate this process with SIGPIPE.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw Error(std::string("cannot create a socket pair: ") + std::strerror(errno));
  const std::string environment = std::string(kVariable) + "=" + value_;
  pid_ = fork();
  if (pid_ == 0) {
    close(ends[1]);
    guard(ends[0], environment);
  }
  close(ends[0]);
  channel_ = ends[1];
  if (pid_ < 0) {
    const int reason = errno;
    close(channel_);
    throw Error(std::string("cannot start a process: ") + std::strerror(reason));
  }
  for (const ProcessEntry& each : list_processes())
    if (each.parent == getpid()) others_.insert(each.pid);
  others_.insert(pid_);
  int before = 0;
  was_subreaper_ = prctl(PR_GET_CHILD_SUBREAPER, &before) == 0 && before != 0;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

ProcessReaper::~ProcessReaper() {
  end_detached();
  if (!was_subreaper_) prctl(PR_SET_CHILD_SUBREAPER, 0);
  close(channel_);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ProcessReaper::watch(pid_t group) {
  workers_.insert(group);
  groups_.insert(group);
  send_message(group);
}

void ProcessReaper::forget(pid_t group) {
  workers_.erase(group);
  others_.insert(group);  // it may still be a zombie
  send_message(-group);
}

void ProcessReaper::send_message(pid_t message) {
  while (send(channel_, &message, sizeof message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

bool ProcessReaper::is_orphan(pid_t pid, pid_t parent) const {
  return parent == getpid() && !others_.contains(pid) && !workers_.contains(pid);
}

bool ProcessReaper::has_detached() const {
  const std::vector<ProcessEntry> all = list_processes();
  std::set<pid_t> started = workers_;
  for (const ProcessEntry& each : all)
    if (is_orphan(each.pid, each.parent)) started.insert(each.pid);
  add_descendants(all, started);
  return std::any_of(all.begin(), all.end(), [&](const ProcessEntry& each) {
    return started.contains(each.pid) && !groups_.contains(each.group) && each.state != 'Z';
  });
}

std::vector<std::string> ProcessReaper::end_detached() {
  std::vector<std::string> names;
  std::set<pid_t> seen;
  bool found = true;
  for (int round = 0; round < kMaxRounds && found; ++round) {
    if (round > 0) usleep(kRoundUs);
    found = false;
    for (const ProcessEntry& each : list_processes()) {
      if (!is_orphan(each.pid, each.parent)) continue;
      found = true;
      kill(each.pid, SIGKILL);
      if (each.state != 'Z' && !groups_.contains(each.group) && seen.insert(each.pid).second)
        names.push_back(each.name);
      waitpid(each.pid, nullptr, WNOHANG);
    }
  }
  return names;
}

void ProcessReaper::suspend() const {
  const std::int64_t began_ns = now_ns();
  for (const pid_t group : workers_) signal_group(group, SIGSTOP);
  raise(SIGSTOP);
  for (const pid_t group : workers_) signal_group(group, SIGCONT);
  suspended_ns += now_ns() - began_ns;
}

}  // namespace kymo::supervisor
