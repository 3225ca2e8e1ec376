// SPDX-License-Identifier: Apache-2.0
#include "supervisor/worker_process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "base/log.hpp"
#include "base/machine.hpp"
#include "supervisor/output_capture.hpp"
#include "supervisor/process_reaper.hpp"

namespace kymo::supervisor {

/// One of the two pipes; kept alive while a read is pending.
struct WorkerProcess::Stream : std::enable_shared_from_this<WorkerProcess::Stream> {
  /// fd -1: there is no output.
  Stream(boost::asio::io_context& loop, int fd) : pipe(loop) {
    if (fd >= 0) pipe.assign(fd);
  }

  /// Waits without reading, so that output is always either in the pipe or in the capture.
  void read_on() {
    pipe.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [self = shared_from_this()](const boost::system::error_code& failed) {
                      if (failed) return;
                      if (self->drain()) {
                        self->read_on();
                      } else {
                        self->close();
                      }
                    });
  }

  /// Reads available data without waiting. The amount is bounded, because a writer may be faster than this reader.
  /// Returns false at the end of the stream.
  bool drain() {
    static constexpr std::size_t kMaxBytes = 4u << 20;
    std::array<char, 1 << 16> bytes{};
    for (std::size_t total = 0; pipe.is_open() && total < kMaxBytes;) {
      const ssize_t got = ::read(pipe.native_handle(), bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno == EAGAIN;
      if (got == 0) return false;
      capture.append({bytes.data(), static_cast<std::size_t>(got)});
      total += static_cast<std::size_t>(got);
    }
    return pipe.is_open();
  }

  void close() {
    boost::system::error_code ignored;
    if (pipe.is_open()) pipe.close(ignored);
  }

  boost::asio::posix::stream_descriptor pipe;
  OutputCapture capture;
};

WorkerProcess::WorkerProcess(boost::asio::io_context& loop, const SpawnOptions& options, ProcessReaper& reaper)
    : reaper_(reaper) {
  SpawnOptions marked = options;
  marked.environment.emplace_back(ProcessReaper::kVariable, reaper.value());
  const Child child = spawn(marked);
  pid_ = child.pid;
  reaper_.watch(pid_);
  is_captured_ = !options.inherit_streams;
  stdout_ = std::make_shared<Stream>(loop, child.stdout_fd);
  stderr_ = std::make_shared<Stream>(loop, child.stderr_fd);
  if (!is_captured_) return;
  stdout_->read_on();
  stderr_->read_on();
}

WorkerProcess::~WorkerProcess() {
  for (int attempt = 0; !poll_end(); ++attempt) {
    static constexpr int kMaxAttempts = 5000;
    kill();
    if (attempt == kMaxAttempts) {
      log::warning("process " + std::to_string(pid_) + " did not end after SIGKILL; giving up");
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  stdout_->close();
  stderr_->close();
}

void WorkerProcess::announce(pid_t pid) {
  if (pid > 0 && getpgid(pid) == pid_) announced_ = pid;
}

void WorkerProcess::kill() {
  if (!end_) signal_group(pid_, SIGKILL);
}

bool WorkerProcess::was_stopped() { return !end_ && was_stopped_by_terminal(pid_); }

void WorkerProcess::signal(int number) {
  if (!end_) ::kill(pid_, number);
}

std::optional<ProcessEnd> WorkerProcess::poll_end() {
  if (end_) return end_;
  siginfo_t state{};
  // Checked before the process is reaped: until then its process and group id cannot be reused.
  if (waitid(P_PID, static_cast<id_t>(pid_), &state, WEXITED | WNOHANG | WNOWAIT) == 0) {
    if (state.si_pid == 0) return std::nullopt;
    if (state.si_code == CLD_TRAPPED) return try_reap(pid_);  // it requested tracing and stopped: it continues
  }
  signal_group(pid_, SIGKILL);
  reaper_.forget(pid_);
  end_ = try_reap(pid_);
  if (!is_captured_) give_terminal(0);
  for (const auto& stream : {stdout_, stderr_}) {
    stream->drain();
    stream->close();  // a process that left the group may keep it open indefinitely
  }
  return end_;
}

bool WorkerProcess::output_closed() const {
  return is_captured_ && !stdout_->pipe.is_open() && !stderr_->pipe.is_open();
}

ProcessOutput WorkerProcess::take_output() {
  stdout_->drain();
  stderr_->drain();
  ProcessOutput output{stdout_->capture.text(), stderr_->capture.text()};
  stdout_->capture.clear();
  stderr_->capture.clear();
  return output;
}

std::string WorkerProcess::last_line() const {
  const std::string line = stderr_->capture.last_line();
  return line.empty() ? stdout_->capture.last_line() : line;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

LocalProcess::LocalProcess(boost::asio::io_context& loop, const SpawnOptions& options, ProcessReaper& reaper,
                           const LocalPlacement& placement)
    : process_(loop, options, reaper), placement_(placement), kernel_kills_before_(kernel_out_of_memory_kills()) {}

void LocalProcess::localize(measure::protocol::Assignment& assignment) const {
  assignment.local_rank = placement_.local_rank;
  assignment.device_index = placement_.device_index;
}

void LocalProcess::begin_pass(std::int64_t, measure::Pass) { kernel_kills_before_ = kernel_out_of_memory_kills(); }

std::optional<WorkerEnd> LocalProcess::poll_end() {
  if (end_) return end_;
  if (const auto end = process_.poll_end())
    end_ = WorkerEnd{*end, kernel_out_of_memory_kills() > kernel_kills_before_, process_.last_line(), ""};
  return end_;
}

std::optional<RankProcess::MemoryUse> LocalProcess::memory_use(std::int64_t bound_bytes) {
  auto bytes = resident_bytes(process_.worker_pid());
  if (!bytes) return std::nullopt;
  if (bound_bytes > 0) {
    // Processes that the workload started count, too. The exact size is expensive, so it is only determined if the sum
    // of the resident sizes, which counts shared pages several times, exceeds the bound.
    const std::vector<pid_t> tree = process_tree(process_.worker_pid());
    std::int64_t sum = 0;
    for (const pid_t pid : tree) sum += resident_bytes(pid).value_or(0);
    if (sum > bound_bytes) bytes = tree.size() == 1 ? sum : proportional_bytes(tree);
  }
  const bool exceeds = bound_bytes > 0 && *bytes > bound_bytes;
  return MemoryUse{*bytes, exceeds ? available_host_bytes() : std::nullopt};
}

ProcessOutput LocalProcess::take_output() { return process_.take_output(); }

}  // namespace kymo::supervisor
