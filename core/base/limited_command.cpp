// SPDX-License-Identifier: Apache-2.0
#include "base/limited_command.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <list>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/process_activity.hpp"

namespace kymo {
namespace {

constexpr std::int64_t kSampleNs = 250'000'000;  ///< reading /proc takes milliseconds on a machine with many processes
constexpr int kWaitMs = 20;
constexpr int kWaitForEndMs = 2;  ///< between the end of the output and that of the process

/// A command that was started. Kills it on destruction.
class RunningCommand {
 public:
  RunningCommand(std::size_t index, const LimitedCommand& command)
      : index_(index), limits_(command.limits), child_(spawn(contained(command.options))), idle_(now_ns()) {}
  RunningCommand(const RunningCommand&) = delete;
  ~RunningCommand() {
    if (!ended_) {
      kill(child_.pid, SIGTERM);
      while (waitpid(child_.pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    close(child_.stdout_fd);
    close(child_.stderr_fd);
  }

  std::size_t index() const { return index_; }
  const LimitedResult& result() const { return result_; }

  void add_streams(std::vector<pollfd>& streams) const {
    if (stdout_open_) streams.push_back({child_.stdout_fd, POLLIN, 0});
    if (stderr_open_) streams.push_back({child_.stderr_fd, POLLIN, 0});
  }

  /// Reads the available output; true if the command has ended.
  bool has_ended() {
    const auto end = try_reap(child_.pid);
    if (stdout_open_) stdout_open_ = drain(child_.stdout_fd, result_.stdout_text, kMaxStdoutBytes);
    if (stderr_open_) stderr_open_ = drain(child_.stderr_fd, result_.stderr_text, kMaxStderrBytes);
    if (end) result_.end = *end;
    ended_ = end.has_value();
    return ended_;
  }

  /// Kills the command if it exceeds a limit.
  void check(const std::vector<ProcessEntry>& all) {
    const ProcessActivity activity = activity_of_tree(child_.pid, all);
    idle_.add(activity, now_ns());
    if (result_.exceeded) return;  // it is being killed
    if (static_cast<double>(activity.processor_ns) / 1e9 > limits_.processor_s)
      result_.exceeded = CommandLimit::kProcessorTime;
    else if (idle_.seconds() > limits_.idle_s)
      result_.exceeded = CommandLimit::kIdleTime;
    if (result_.exceeded) kill(child_.pid, SIGTERM);
  }

 private:
  static SpawnOptions contained(SpawnOptions options) {
    options.end_descendants = true;
    return options;
  }

  std::size_t index_;
  CommandLimits limits_;
  Child child_;
  IdleTime idle_;
  LimitedResult result_;
  bool stdout_open_ = true, stderr_open_ = true, ended_ = false;
};

/// Waits until a command writes or ends, or for a short time.
void wait_for_output(const std::list<RunningCommand>& running) {
  std::vector<pollfd> streams;
  for (const RunningCommand& each : running) each.add_streams(streams);
  const bool all_open = streams.size() == 2 * running.size();
  poll(streams.data(), streams.size(), all_open ? kWaitMs : kWaitForEndMs);
}

}  // namespace

void run_limited(const std::vector<LimitedCommand>& commands, std::size_t at_once,
                 const std::function<void(std::size_t, const LimitedResult&)>& on_end,
                 const std::function<void()>& on_wait) {
  std::list<RunningCommand> running;
  std::size_t next = 0;
  std::int64_t sampled_ns = now_ns();
  while (next < commands.size() || !running.empty()) {
    for (; next < commands.size() && running.size() < std::max<std::size_t>(at_once, 1); ++next) {
      try {
        running.emplace_back(next, commands[next]);
      } catch (const Error& error) {
        LimitedResult result;
        result.not_started = error.what();
        on_end(next, result);
      }
    }
    wait_for_output(running);
    if (on_wait) on_wait();
    for (auto each = running.begin(); each != running.end();) {
      if (each->has_ended()) {
        on_end(each->index(), each->result());
        each = running.erase(each);
      } else {
        ++each;
      }
    }
    if (now_ns() - sampled_ns < kSampleNs) continue;
    sampled_ns = now_ns();
    const std::vector<ProcessEntry> all = list_processes();
    for (RunningCommand& each : running) each.check(all);
  }
}

}  // namespace kymo
