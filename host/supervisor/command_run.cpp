// SPDX-License-Identifier: Apache-2.0
#include "supervisor/command_run.hpp"

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "measure/statistics.hpp"
#include "store/rank_file.hpp"
#include "supervisor/measured_command.hpp"
#include "supervisor/signals.hpp"
#include "supervisor/steady_seconds.hpp"
#include "supervisor/worker_process.hpp"

namespace kymo::supervisor {
namespace {

using measure::Outcome;
using measure::RunStatus;

constexpr double kGrace_s = 2;  ///< between a signal and the one that ends the command at once
constexpr std::size_t kMaxDetail = 500;

class CommandRun {
 public:
  CommandRun(const PlannedRun& run, ProgressMeter& meter, ProcessReaper& reaper,
             const std::function<int()>& interrupted_by)
      : run_(run), meter_(meter), reaper_(reaper), interrupted_by_(interrupted_by) {
    record_.device = run.command.device;
  }

  Outcome execute() {
    measure::Stopping stopping(run_.method.until.value_or(measure::StoppingRule{}));
    const std::int64_t warmup = run_.repetition == 0 ? run_.method.warmup : 0;
    const double begin_s = steady_seconds();
    for (std::int64_t step = 0; outcome_.status == RunStatus::kOk; ++step) {
      const bool is_warmup = step < warmup;
      meter_.update({is_warmup ? "warm-up" : "execution", step, 0}, steady_seconds());
      if (!prepare()) break;
      last_ = run(run_.command.words, "the command " + quote(run_.what.workload), run_.command.ignores_failure);
      if (outcome_.status != RunStatus::kOk) break;
      add_sample(step, is_warmup);
      if (is_warmup) continue;
      const auto wall_ns = static_cast<double>(last_.wall_ns);
      stopping.add(wall_ns, wall_ns);
      if (stopping.enough(steady_seconds() - begin_s)) break;
    }
    return outcome_;
  }

  const event::PassRecord& record() const { return record_; }
  const MeasuredCommand& last() const { return last_; }

 private:
  bool prepare() {
    if (!run_.command.prepare.empty()) run(run_.command.prepare, "the command of --prepare", false);
    return outcome_.status == RunStatus::kOk;
  }

  MeasuredCommand run(const std::vector<std::string>& words, const std::string& subject, bool ignores_failure) {
    SpawnOptions options;
    options.command = words;
    options.discard_stdout = !run_.command.stores_output;
    begin_s_ = steady_seconds();
    signalled_s_ = 0;
    is_killed_ = false;
    try {
      MeasuredCommand measured = measure_command(options, reaper_, [this] { return next_signal(); });
      judge(measured, subject, ignores_failure);
      return measured;
    } catch (const Error& error) {
      outcome_ = {RunStatus::kFailed, error.what()};
      return {};
    }
  }

  /// The signal to send to the command now, or 0.
  int next_signal() {
    const double now_s = steady_seconds();
    meter_.tick(now_s);
    if (is_killed_) return 0;
    interrupted_ = interrupted_by_();
    const double timeout_s = run_.method.timeout_s;
    is_late_ = timeout_s > 0 && now_s - begin_s_ > timeout_s;
    const bool has_been_asked = signalled_s_ > 0 && now_s - signalled_s_ > kGrace_s;
    if (is_late_ || has_been_asked || interrupted_ == SIGKILL) {
      is_killed_ = true;
      return SIGKILL;
    }
    if (interrupted_ == 0 || signalled_s_ > 0) return 0;
    signalled_s_ = now_s;
    return interrupted_;
  }

  void judge(const MeasuredCommand& measured, const std::string& subject, bool ignores_failure) {
    const auto& [exit_code, signal] = measured.end;
    if (interrupted_by_() != 0) {
      outcome_.status = RunStatus::kInterrupted;
      outcome_.detail = "interrupted";
    } else if (is_late_) {
      outcome_.status = RunStatus::kTimeout;
      outcome_.detail = subject + " took longer than " + shortest_text(run_.method.timeout_s) + " s (--timeout)";
    } else if ((signal || exit_code != 0) && !ignores_failure) {
      outcome_.status = signal ? RunStatus::kCrashed : RunStatus::kFailed;
      outcome_.detail = one_line(subject + " ended with " + measured.end.describe() +
                                     (measured.last_lines.empty() ? "" : ": " + measured.last_lines),
                                 kMaxDetail);
    }
    if (outcome_.status == RunStatus::kOk) return;
    outcome_.exit_code = exit_code;
    outcome_.signal = signal;
  }

  void add_sample(std::int64_t step, bool is_warmup) {
    if (step == 0) first_ns_ = last_.begin_ns;
    event::Sample& sample = record_.samples.emplace_back();
    sample.step = step;
    sample.phase = event::kWholeStep;
    sample.warmup = is_warmup;
    sample.start_ns = last_.begin_ns - first_ns_;
    sample.host_ns = last_.wall_ns;
    sample.cpu_ns = last_.processor_ns;
    record_.memory.resident_bytes = std::max(record_.memory.resident_bytes, last_.resident_peak_bytes);
  }

  const PlannedRun& run_;
  ProgressMeter& meter_;
  ProcessReaper& reaper_;
  const std::function<int()>& interrupted_by_;
  event::PassRecord record_;
  Outcome outcome_;
  MeasuredCommand last_;
  std::int64_t first_ns_ = 0;
  // The state of the current process:
  double begin_s_ = 0, signalled_s_ = 0;  // 0: it was sent no signal
  int interrupted_ = 0;
  bool is_late_ = false, is_killed_ = false;
};

}  // namespace

ExecutedRun execute_command(std::int64_t run_id, const PlannedRun& run, const Scratch& scratch, ProgressMeter& meter,
                            ProcessReaper& reaper, const std::function<int()>& interrupted_by) {
  using measure::Pass;
  CommandRun command(run, meter, reaper, interrupted_by);
  ExecutedRun executed;
  executed.outcome = command.execute();
  if (executed.outcome.status != RunStatus::kOk) executed.outcome.pass = Pass::kTime;
  if (auto names = reaper.end_detached(); !names.empty())
    executed.detached.push_back({-1, Pass::kTime, std::move(names)});
  const auto file = scratch.rank_file(run_id, 0, Pass::kTime);
  try {
    store::write_rank_file(file, run_id, 0, Pass::kTime, command.record());
    executed.rank_files.push_back(file);
  } catch (const Error& error) {
    if (executed.outcome.status == RunStatus::kOk) executed.outcome = {RunStatus::kFailed, error.what()};
  }
  const MeasuredCommand& last = command.last();
  executed.workers.push_back({.rank = 0,
                              .pass = Pass::kTime,
                              .pid = std::max<std::int64_t>(last.pid, 0),
                              .host = host_name(),
                              .status = executed.outcome.status,
                              .stdout_text = last.output.stdout_text,
                              .stderr_text = last.output.stderr_text});
  return executed;
}

}  // namespace kymo::supervisor
