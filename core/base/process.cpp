// SPDX-License-Identifier: Apache-2.0
#include "base/process.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#include "base/clock.hpp"
#include "base/descendant_reaper.hpp"
#include "base/error.hpp"
#include "base/machine.hpp"
#include "base/text.hpp"

extern char** environ;

namespace kymo {
namespace {

/// Read at a time: more than a pipe holds. A process that writes as fast as this one reads must not hold it up.
constexpr std::size_t kMaxDrainedBytes = 4u << 20;

/// A pipe that closes the ends it still owns on destruction.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw Error(std::string("cannot create a pipe: ") + std::strerror(errno));
  }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) close(end);
  }
  int take(int which) { return std::exchange(ends[static_cast<std::size_t>(which)], -1); }
};

/// What a child knows right before its program begins, in memory that it shares with its parent: a message would wake
/// the parent, which could take the processor from the child.
struct ExecRecord {
  std::int64_t exec_ns = 0;
  std::int64_t processor_ns = 0;
  std::int64_t resident_peak_bytes = 0;

  static ExecRecord* map() {
    void* const page = mmap(nullptr, sizeof(ExecRecord), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw Error(std::string("cannot start a process: ") + std::strerror(errno));
    return new (page) ExecRecord();
  }
  static void unmap(ExecRecord* record) { munmap(record, sizeof(ExecRecord)); }
};

/// Without empty elements, which would mean the current directory, where anybody's `as` or `ld` may be.
std::string without_empty_elements(std::string_view path) {
  std::vector<std::string> folders = split(path, ':');
  std::erase(folders, "");
  return join(folders, ":");
}

std::vector<std::string> merged_environment(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const auto& change : changes) replaced = replaced || change.first == name;
    if (replaced) continue;
    if (name == "PATH") {
      result.push_back("PATH=" + without_empty_elements(text.substr(name.size() + 1)));
    } else {
      result.emplace_back(text);
    }
  }
  for (auto change = changes.begin(); change != changes.end(); ++change) {
    const auto is_same = [&](const auto& later) { return later.first == change->first; };
    if (std::none_of(change + 1, changes.end(), is_same)) result.push_back(change->first + "=" + change->second);
  }
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Runs in the child between fork and exec, with async-signal-safe calls only. Writes errno to `report` if exec fails.
[[noreturn]] void become(const char* file, char* const* arguments, char* const* environment, pid_t parent,
                         const SpawnOptions& options, int out, int err, int report, ExecRecord& record) {
  setpgid(0, 0);
  if (options.inherit_streams) give_terminal(0);
  if (options.die_with_parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // the parent exited before the parent-death signal was set
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ, SIGHUP}) signal(number, SIG_DFL);
  if (!options.inherit_streams) {
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(options.discard_stdout ? open("/dev/null", O_WRONLY) : out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
  }
  close_range(
      3, ~0U,
      CLOSE_RANGE_CLOEXEC);  // library sockets may lack close-on-exec; the child must not keep their connections open
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  record.processor_ns = processor_ns(before);
  record.resident_peak_bytes = before.ru_maxrss * 1024;
  record.exec_ns = now_ns();
  execve(file, arguments, environment);
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = ::write(report, &reason, sizeof reason);
  _exit(127);
}

void set_nonblocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

ProcessEnd reap(pid_t pid) {
  int status = 0;
  for (;;) {
    if (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (!continued_after_stop(pid, status)) return end_from(status);
  }
}

bool is_executable(const std::filesystem::path& file) {
  std::error_code ignored;  // an unreadable file cannot be executed
  return std::filesystem::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0;
}

}  // namespace

std::int64_t processor_ns(const rusage& usage) {
  const auto in_ns = [](const timeval& time) {
    return (static_cast<std::int64_t>(time.tv_sec) * 1'000'000 + time.tv_usec) * 1'000;
  };
  return in_ns(usage.ru_utime) + in_ns(usage.ru_stime);
}

ProcessEnd end_from(int status) {
  ProcessEnd end;
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  return end;
}

bool drain(int fd, std::string& text, std::size_t bound) {
  std::array<char, 1 << 16> block{};
  for (std::size_t all = 0; all < kMaxDrainedBytes;) {
    const ssize_t got = read(fd, block.data(), block.size());
    if (got > 0) {
      all += static_cast<std::size_t>(got);
      const auto room = text.size() < bound ? bound - text.size() : 0;
      text.append(block.data(), std::min<std::size_t>(static_cast<std::size_t>(got), room));
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    return got < 0 && errno == EAGAIN;
  }
  return true;
}

// Nobody traces the child here, so it continues with the signal that stopped it.
bool continued_after_stop(pid_t pid, int status) {
  if (!WIFSTOPPED(status)) return false;
  const int signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
  ptrace(PTRACE_DETACH, pid, nullptr, reinterpret_cast<void*>(static_cast<std::intptr_t>(signal)));
  return true;
}

std::optional<std::filesystem::path> find_program(const std::string& name) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string::npos)
    return is_executable(name) ? std::optional(std::filesystem::absolute(name)) : std::nullopt;
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    if (folder.empty()) continue;
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    if (is_executable(file)) return file;
  }
  return std::nullopt;
}

std::string ProcessEnd::describe() const {
  if (signal) return "signal " + std::to_string(*signal) + " (" + strsignal(*signal) + ")";
  return "exit code " + std::to_string(exit_code.value_or(-1));
}

Child spawn(const SpawnOptions& options) {
  if (options.command.empty()) throw Error("cannot start a process: the command is empty");
  auto arguments = options.command;
  const auto program = find_program(arguments.front());
  if (!program && arguments.front().find('/') == std::string::npos)
    throw Error("cannot start " + quote(arguments.front()) + ": no such program in PATH");
  const std::string file = program ? program->string() : arguments.front();
  auto environment = merged_environment(options.environment);
  const auto argument_pointers = pointers(arguments);
  const auto environment_pointers = pointers(environment);
  Pipe out, err, report;
  const std::unique_ptr<ExecRecord, void (*)(ExecRecord*)> record(ExecRecord::map(), ExecRecord::unmap);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw Error(std::string("cannot start a process: ") + std::strerror(errno));
  if (pid == 0) {
    const pid_t above = options.end_descendants ? fork_below_reaper(parent, report.ends[1]) : parent;
    become(file.c_str(), argument_pointers.data(), environment_pointers.data(), above, options, out.ends[1],
           err.ends[1], report.ends[1], *record);
  }
  setpgid(pid, pid);  // called in both parent and child, to avoid a race on the process group
  close(report.take(1));
  int reason = 0;
  ssize_t got = 0;
  while ((got = read(report.ends[0], &reason, sizeof reason)) < 0 && errno == EINTR) {
  }
  if (got > 0) {
    reap(pid);
    throw Error("cannot start " + quote(options.command.front()) + ": " + std::strerror(reason));
  }
  Child child;
  child.pid = pid;
  child.exec_ns = record->exec_ns;
  child.processor_ns_before = record->processor_ns;
  child.resident_peak_bytes_before = record->resident_peak_bytes;
  if (options.inherit_streams) return child;
  child.stdout_fd = out.take(0);
  child.stderr_fd = err.take(0);
  set_nonblocking(child.stdout_fd);
  set_nonblocking(child.stderr_fd);
  return child;
}

void give_terminal(pid_t group) {
  if (isatty(STDIN_FILENO) == 0) return;
  sigset_t stopping, before;
  sigemptyset(&stopping);
  sigaddset(&stopping, SIGTTOU);  // sent to a group in the background that does this
  sigprocmask(SIG_BLOCK, &stopping, &before);
  tcsetpgrp(STDIN_FILENO, group > 0 ? group : getpgrp());
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

bool was_stopped_by_terminal(pid_t pid) {
  siginfo_t state{};
  if (waitid(P_PID, static_cast<id_t>(pid), &state, WSTOPPED | WNOHANG) != 0 || state.si_pid == 0) return false;
  return state.si_code == CLD_STOPPED && state.si_status == SIGTSTP;
}

bool signal_group(pid_t group, int signal) { return group > 0 && kill(-group, signal) == 0; }

std::optional<ProcessEnd> try_reap(pid_t pid) {
  int status = 0;
  const pid_t got = waitpid(pid, &status, WNOHANG);
  if (got == pid && continued_after_stop(pid, status)) return std::nullopt;
  if (got == pid) return end_from(status);
  if (got < 0 && errno == ECHILD) return ProcessEnd{-1, std::nullopt};
  return std::nullopt;
}

CommandResult run_command(const SpawnOptions& options, double deadline_s) {
  const Child child = spawn(options);
  CommandResult result;
  const std::int64_t deadline_ns = now_ns() + static_cast<std::int64_t>(deadline_s * 1e9);
  std::array<pollfd, 2> streams{pollfd{child.stdout_fd, POLLIN, 0}, pollfd{child.stderr_fd, POLLIN, 0}};
  std::optional<ProcessEnd> end;
  while (!end || streams[0].fd >= 0 || streams[1].fd >= 0) {
    const std::int64_t left_ns = deadline_ns - now_ns();
    if (left_ns <= 0) {
      result.timed_out = !end;
      break;
    }
    const bool closed = streams[0].fd < 0 && streams[1].fd < 0;  // a process that ends closes them right before
    poll(streams.data(), streams.size(),
         static_cast<int>(std::min<std::int64_t>(left_ns / 1'000'000 + 1, closed ? 1 : 20)));
    if (streams[0].fd >= 0 && !drain(child.stdout_fd, result.stdout_text, kMaxStdoutBytes)) streams[0].fd = -1;
    if (streams[1].fd >= 0 && !drain(child.stderr_fd, result.stderr_text, kMaxStderrBytes)) streams[1].fd = -1;
    if (!end) end = try_reap(child.pid);
    if (end) signal_group(child.pid, SIGKILL);  // remaining descendants keep the pipes open
  }
  signal_group(child.pid, SIGKILL);
  result.end = end ? *end : reap(child.pid);
  drain(child.stdout_fd, result.stdout_text, kMaxStdoutBytes);
  drain(child.stderr_fd, result.stderr_text, kMaxStderrBytes);
  close(child.stdout_fd);
  close(child.stderr_fd);
  return result;
}

std::filesystem::path own_executable() {
  std::error_code failed;
  auto path = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) throw Error("cannot determine the path of the running program: " + failed.message());
  return path;
}

std::optional<std::int64_t> resident_bytes(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/statm");
  std::int64_t pages = 0;
  if (!(in >> pages >> pages)) return std::nullopt;
  return pages * sysconf(_SC_PAGESIZE);
}

std::vector<ProcessEntry> list_processes() {
  const std::int64_t ns_per_tick = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  std::vector<ProcessEntry> all;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const std::string number = entry.path().filename();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string text;
    std::getline(std::ifstream(entry.path() / "stat"), text, '\0');
    // The name of the program is in parentheses and may contain any character.
    const std::size_t begin = text.find('(');
    const std::size_t end = text.rfind(')');
    if (end == std::string::npos || begin > end) continue;
    ProcessEntry found;
    found.pid = static_cast<pid_t>(std::atol(number.c_str()));
    found.name = text.substr(begin + 1, end - begin - 1);
    long reads = 0, reads_of_children = 0, user = 0, system = 0, user_of_children = 0, system_of_children = 0;
    if (std::sscanf(text.c_str() + end + 1, " %c %d %d %*d %*d %*d %*u %*u %*u %ld %ld %ld %ld %ld %ld", &found.state,
                    &found.parent, &found.group, &reads, &reads_of_children, &user, &system, &user_of_children,
                    &system_of_children) != 9)
      continue;
    found.page_reads = reads + reads_of_children;
    found.processor_ns = (user + system + user_of_children + system_of_children) * ns_per_tick;
    all.push_back(std::move(found));
  }
  return all;
}

void add_descendants(const std::vector<ProcessEntry>& all, std::set<pid_t>& processes) {
  for (std::size_t before = 0; before != processes.size();) {
    before = processes.size();
    for (const ProcessEntry& each : all)
      if (processes.contains(each.parent)) processes.insert(each.pid);
  }
}

std::vector<pid_t> process_tree(pid_t pid) {
  const std::vector<ProcessEntry> all = list_processes();
  std::set<pid_t> members{pid};
  for (const ProcessEntry& each : all)
    if (each.group == pid) members.insert(each.pid);
  add_descendants(all, members);
  return {members.begin(), members.end()};
}

std::int64_t proportional_bytes(const std::vector<pid_t>& processes) {
  std::int64_t kib = 0;
  for (const pid_t pid : processes) {
    const std::string file = "/proc/" + std::to_string(pid) + "/smaps_rollup";
    kib += std::atoll(value_of_line(file.c_str(), "Pss", ':').c_str());
  }
  return kib * 1024;
}

}  // namespace kymo
