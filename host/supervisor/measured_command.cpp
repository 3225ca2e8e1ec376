// SPDX-License-Identifier: Apache-2.0
#include "supervisor/measured_command.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "base/clock.hpp"
#include "supervisor/output_capture.hpp"
#include "supervisor/process_reaper.hpp"
#include "supervisor/steady_seconds.hpp"

namespace kymo::supervisor {
namespace {

constexpr int kTickMs = 50;
constexpr int kShortTickMs = 1;  ///< on systems that cannot wait for the end of a process together with its output
constexpr std::size_t kLastLines = 3;
constexpr std::int64_t kUncertainBytes = 1 << 20;  ///< by which the forked process grows after its last reading

/// A file descriptor that is closed on destruction; -1: none.
struct Descriptor {
  explicit Descriptor(int given) : fd(given) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() { close_now(); }
  void close_now() {
    if (fd >= 0) close(std::exchange(fd, -1));
  }
  int fd;
};

struct Stream {
  explicit Stream(int fd) : pipe(fd) {}

  /// Appends what is available.
  void read() {
    std::string text;
    if (pipe.fd >= 0 && !drain(pipe.fd, text, kMaxStderrBytes)) pipe.close_now();
    capture.append(text);
  }

  Descriptor pipe;
  OutputCapture capture;
};

/// The process has ended but is not reaped: until then, its process and group id cannot be reused.
bool has_ended(pid_t pid) {
  siginfo_t state{};
  if (waitid(P_PID, static_cast<id_t>(pid), &state, WEXITED | WNOHANG | WNOWAIT) != 0) return true;
  if (state.si_pid == 0) return false;
  if (state.si_code != CLD_TRAPPED) return true;
  try_reap(pid);  // it requested tracing and stopped: it continues
  return false;
}

/// Reaps the process.
void read_usage(const Child& child, MeasuredCommand& measured) {
  int status = 0;
  rusage usage{};
  while (wait4(child.pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  measured.end = end_from(status);
  measured.processor_ns = processor_ns(usage) - child.processor_ns_before;
  if (const std::int64_t bytes = usage.ru_maxrss * 1024; bytes > child.resident_peak_bytes_before + kUncertainBytes)
    measured.resident_peak_bytes = bytes;
}

}  // namespace

MeasuredCommand measure_command(const SpawnOptions& options, ProcessReaper& reaper,
                                const std::function<int()>& signal) {
  SpawnOptions marked = options;
  marked.environment.emplace_back(ProcessReaper::kVariable, reaper.value());
  const std::int64_t suspended_before_ns = suspended_ns;
  const Child child = spawn(marked);
  reaper.watch(child.pid);
  MeasuredCommand measured;
  measured.pid = child.pid;
  measured.begin_ns = child.exec_ns;
  const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, child.pid, 0)));
  Stream out(child.stdout_fd), err(child.stderr_fd);
  for (;;) {
    std::array<pollfd, 3> awaited{pollfd{process.fd, POLLIN, 0}, pollfd{out.pipe.fd, POLLIN, 0},
                                  pollfd{err.pipe.fd, POLLIN, 0}};
    poll(awaited.data(), awaited.size(), process.fd >= 0 ? kTickMs : kShortTickMs);
    const std::int64_t time_ns = now_ns();
    if (has_ended(child.pid)) {
      measured.wall_ns = time_ns - child.exec_ns - (suspended_ns - suspended_before_ns);
      break;
    }
    out.read();
    err.read();
    if (const int number = signal(); number != 0) signal_group(child.pid, number);
  }
  signal_group(child.pid, SIGKILL);
  reaper.forget(child.pid);
  read_usage(child, measured);
  out.read();
  err.read();
  measured.output = {out.capture.text(), err.capture.text()};
  measured.last_lines = err.capture.last_lines(kLastLines);
  return measured;
}

}  // namespace kymo::supervisor
