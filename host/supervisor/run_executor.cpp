// SPDX-License-Identifier: Apache-2.0
#include "supervisor/run_executor.hpp"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/tcp.hpp"
#include "base/text.hpp"
#include "supervisor/command_run.hpp"
#include "supervisor/pass_execution.hpp"
#include "supervisor/process_reaper.hpp"
#include "supervisor/program.hpp"
#include "supervisor/program_policy.hpp"
#include "supervisor/remote_process.hpp"
#include "supervisor/signals.hpp"
#include "supervisor/steady_seconds.hpp"
#include "supervisor/window_requests.hpp"
#include "supervisor/worker_pool.hpp"
#include "supervisor/worker_process.hpp"

namespace kymo::supervisor {
namespace asio = boost::asio;
using measure::Pass;

namespace {

constexpr std::chrono::milliseconds kTick{50};     ///< interval of the checks for ended processes, memory use and
                                                   ///< deadlines
constexpr double kStopped_s = 2;                   ///< a longer interval between two checks means that kymo was stopped
constexpr std::chrono::milliseconds kSoonTick{2};  ///< the interval when a process is about to end

/// Ends a run with the outcome of a pass; keeps the result of the verify pass.
void end_run(Outcome& run, Outcome outcome, Pass pass) {
  outcome.verification = run.verification;
  outcome.pass = pass;
  run = outcome.status == RunStatus::kSkipped ? Outcome{outcome.status, outcome.detail, outcome.verification}
                                              : std::move(outcome);
}

/// The measurements of a pass are lost with their directory.
void add_lost_directory(Outcome& verdict, const std::string& what) {
  const bool is_cause = verdict.status == RunStatus::kOk || verdict.stage == "write";
  verdict.detail = is_cause ? what : verdict.detail + "; " + what;
  if (verdict.status == RunStatus::kOk) verdict.status = RunStatus::kFailed;
}

}  // namespace

struct RunExecutor::Impl {
  Impl(const SupervisorConfig& given, const Scratch& files, ProgressMeter& shown, const LeaderOptions* given_options)
      : config(given),
        scratch(files),
        meter(shown),
        leader_options(given_options),
        server(loop,
               {[this](WorkerId id, const protocol::Hello& hello) { on_connected(id, hello); },
                [this](WorkerId id, Frame& frame) { on_frame(id, frame); },
                [this](WorkerId id, const std::string& error_message) { on_closed(id, error_message); }, joining(),
                [this](const protocol::Hello& hello) { return admits(hello); }},
               leader_options ? listen_address(leader_options->launcher_env) : ListenAt{scratch.folder() / "control"}),
        signals(loop, [this](int number) { on_signal(number); }),
        timer(loop),
        workers(loop, server, config, [this](const SpawnRequest& request) { return start(request); }) {
    if (leader_options) {
      hub = std::make_unique<FollowerHub>(loop, leader_options->launcher_env,
                                          follower_protocol::plan_of(leader_options->plan),
                                          [this](int rank, int number) { on_follower_signal(rank, number); });
    }
    arm_timer();
  }

  /// Only the leader of a job accepts connections from other supervisors.
  std::function<void(int, const Json&)> joining() {
    if (!leader_options) return nullptr;
    return [this](int socket, const Json& first) { hub->take(socket, first); };
  }

  bool admits(const protocol::Hello& hello) {
    if (is_in_next_window(hello)) return admits_to_next_window(execution ? execution->team() : *program, hello);
    return !execution || policy->admits(*execution, hello);
  }

  /// A rank may begin its next window before others have completed the last one.
  bool is_in_next_window(const protocol::Hello& hello) const {
    return windows_go_on && (!execution || execution->has_reported(hello.rank));
  }

  bool admits_to_next_window(WorkerTeam& team, const protocol::Hello& hello) {
    const bool is_first = !execution && windows_begun == 0;
    if (is_first && processes == ObservedProcesses::kFound && hello.ranks > 0 && in_next_window.empty()) {
      team.replace(hello.ranks, [this](int rank) { return policy->process_of(rank); });
      processes = ObservedProcesses::kRanks;
    }
    if (hello.rank < 0 || hello.rank >= team.count()) return false;
    if (!is_first && team.last_pid(hello.rank) != hello.pid) return false;
    if (team.is_connected(hello.rank)) team.expect_again(hello.rank);
    return true;
  }

  // Event handlers.

  void on_connected(WorkerId id, const protocol::Hello& hello) {
    if (is_in_next_window(hello))
      in_next_window.emplace_back(id, hello);
    else if (execution)
      execution->connected(id, hello);
  }

  void arm_timer() {
    const bool soon = (execution && execution->team().ending()) || workers.ending();
    timer.expires_after(soon ? kSoonTick : kTick);
    timer.async_wait([this](const boost::system::error_code& cancelled) {
      if (cancelled) return;
      on_tick();
      arm_timer();
    });
  }

  void on_tick() {
    if (LocalProcess* const process = foreground(); process && process->was_stopped()) suspend_with(*process);
    const double now_s = steady_seconds();
    // After a stop (Ctrl-Z), messages of the workers are still unread. Read them before checking deadlines.
    const bool was_stopped = now_s - std::exchange(last_tick_s, now_s) > kStopped_s;
    if (execution && !was_stopped) execution->tick(now_s);
    workers.tick();
    meter.tick(now_s);
  }

  LocalProcess* foreground() { return policy ? policy->foreground() : nullptr; }

  /// The process has the terminal, so Ctrl-Z stopped only it. The shell waits for this one to stop.
  void suspend_with(const LocalProcess& process) {
    give_terminal(0);
    reaper->suspend();
    give_terminal(process.group());
    signal_group(process.group(), SIGCONT);  // if it read from the terminal in the meantime, that stopped it again
  }

  void on_frame(WorkerId id, Frame& frame) {
    if (workers.is_idle(id)) throw Error("unexpected frame from an idle worker");
    if (execution) execution->received(id, frame);
  }

  void on_closed(WorkerId id, const std::string& error_message) {
    workers.closed(id);
    if (execution) execution->closed(id, error_message);
    arm_timer();  // its process may be about to end: do not wait for the next regular check
  }

  void on_signal(int number) {
    if (number == SIGTSTP) return reaper->suspend();
    if (LocalProcess* const process = foreground()) {
      signal_number = number;  // no further pass begins
      return process->signal(number);
    }
    if (++own_signals == 1) return cancel(number, signal_name(number));
    workers.kill();
    if (execution) execution->cancel_at_once();
  }

  /// The launcher may signal all ranks; a later signal of this process then still counts as its first.
  void on_follower_signal(int rank, int number) {
    cancel(number, std::string(signal_name(number)) + " on rank " + std::to_string(rank));
  }

  void cancel(int number, const std::string& name) {
    if (signal_number != 0) return;
    signal_number = number;
    log::warning(name + (executes_command ? ": ending the command"
                                          : ": stopping after the current step; send the signal again to stop "
                                            "immediately"));
    if (execution) execution->cancel(name);
  }

  // Main sequence.

  ExecutedRun execute(std::int64_t run_id, const PlannedRun& planned, const TimeLimit& time_limit) {
    all_runs = time_limit;
    executes_command = !planned.command.words.empty();
    if (executes_command)
      return execute_command(run_id, planned, scratch, meter, *reaper, [this] {
        loop.poll();
        return own_signals > 1 ? SIGKILL : signal_number;
      });
    PlannedRun run = planned;
    ExecutedRun made;
    workers.prepare_for(run);
    for (std::size_t i = 0; i < run.method.passes.size() && made.outcome.status == RunStatus::kOk; ++i) {
      const Pass pass = run.method.passes[i];
      if (signal_number != 0) {
        made.outcome.status = RunStatus::kInterrupted;
        made.outcome.detail =
            std::string("interrupted by ") + signal_name(signal_number) + " before pass " + to_string(pass);
        break;
      }
      meter.begin_pass(i, run.method.passes.size());
      run_pass(run_id, run, pass, made);
      if (run.program.processes == ObservedProcesses::kFound) fix_ranks(run, made);
      if (made.ranks > 0) processes = ObservedProcesses::kRanks;
    }
    return made;
  }

  /// The other passes observe the same processes as the first one.
  static void fix_ranks(PlannedRun& run, const ExecutedRun& made) {
    run.program.processes = made.ranks > 0 ? ObservedProcesses::kRanks : ObservedProcesses::kMain;
    run.what.ranks = std::max(made.ranks, 1);
  }

  void run_pass(std::int64_t run_id, const PlannedRun& run, Pass pass, ExecutedRun& made) {
    const bool reusable = (pass == Pass::kTime || predicts_only(run)) && !run.method.fresh;
    const bool goes_on = program != nullptr;
    if (goes_on)
      begin_window(run, pass);
    else
      prepare_start(run, pass);
    PlannedRun started = run;
    started.what.ranks = measure::processes_of(pass, run.what.ranks);
    auto team = goes_on ? std::move(program) : reusable ? workers.take_idle() : nullptr;
    if (!team && uses_forks(run)) team = workers.take_forks(started);
    const bool reused = team != nullptr && !goes_on;
    try {
      begin_pass(run_id, run, pass, team ? std::move(team) : workers.start(started));
      for (const auto& [id, hello] : std::exchange(in_next_window, {})) execution->connected(id, hello);
    } catch (const Error& error) {
      const RunStatus status = intact() ? RunStatus::kFailed : RunStatus::kCrashed;
      return end_run(made.outcome, {status, std::string("cannot start a worker: ") + error.what()}, pass);
    }
    while (!execution->done()) loop.run_one();
    const bool again = reused && execution->died_untouched() && intact();
    if (!again) end_pass(run, pass, reusable, made);
    execution.reset();
    if (!program) policy.reset();
    if (again) run_pass(run_id, run, pass, made);
  }

  /// Those of other supervisors serve a single pass.
  bool uses_forks(const PlannedRun& run) const { return forks_for_passes(run) && !leader_options; }
  /// All forks of a process have its addresses and its seed of hash(), with which steps may take 10 % longer or
  /// shorter. Runs that are to be independent therefore have processes of their own.
  bool keeps_forks(const PlannedRun& run, Pass pass) const {
    return uses_forks(run) && !(run.method.fresh && pass == Pass::kTime);
  }

  void prepare_start(const PlannedRun& run, Pass pass) {
    program_log = scratch.folder() / ("program-log-" + std::to_string(++starts));
    current_pass = pass;
    policy = policy_of(run, pass);
    processes = run.program.processes;
    windows_go_on = has_more_windows(run);
    if (run.program.further_windows.on_request) requests.emplace(scratch.folder() / "windows", scratch.database());
  }

  void begin_window(const PlannedRun& run, Pass pass) {
    LocalProcess* const started = policy->foreground();
    policy = policy_of(run, pass);
    policy->started(*started);
    windows_go_on = has_more_windows(run);
  }

  bool has_more_windows(const PlannedRun& run) const {
    const FurtherWindows& further = run.program.further_windows;
    return further.on_request || further.period > 0 || windows_begun < further.listed.size();
  }

  /// Keeps a program that goes on, whose ranks connect again for the next window.
  void keep_program(std::unique_ptr<WorkerTeam> team) {
    for (int rank = 0; rank < team->count(); ++rank)
      if (team->is_connected(rank)) team->expect_again(rank);
    program = std::move(team);
  }

  bool wait_for_window() {
    while (in_next_window.empty() && !program->ended() && signal_number == 0) {
      loop.run_one();
      if (requests && requests->requested()) requests->propose();
    }
    return !in_next_window.empty();
  }

  std::optional<Window> next_window(PlannedRun& run) {
    const FurtherWindows& further = run.program.further_windows;
    if (!program && further.on_request && windows_begun == 0) {
      prepare_start(run, run.method.passes.front());
      program = workers.start(run);
      log::info("waiting: 'kymo observe " + std::to_string(getpid()) + "' observes the next steps of the program");
    }
    if (!program) return std::nullopt;
    if (!wait_for_window()) {
      warn_of_missed(further);
      return std::nullopt;
    }
    if (std::exchange(run.program.processes, processes) != processes) run.what.ranks = program->count();
    const std::size_t index = windows_begun++;
    if (further.on_request) {
      const std::int64_t begin = requests->agreed_step();
      const std::int64_t steps = requests->requested().value_or(run.method.steps);  // the program can alter the file
      return Window{begin + run.method.warmup, steps, run.method.warmup};
    }
    if (index < further.listed.size()) return further.listed[index];
    Window window = further.listed.empty() ? first_window(run) : further.listed.back();
    window.first += further.period * static_cast<std::int64_t>(index - further.listed.size() + 1);
    return window;
  }

  void warn_of_missed(const FurtherWindows& further) const {
    std::vector<std::string> missed;
    for (std::size_t i = windows_begun; i < further.listed.size(); ++i) missed.push_back(to_text(further.listed[i]));
    if (!missed.empty())
      log::warning(std::string("the program ended before the window") + (missed.size() == 1 ? " " : "s ") +
                   join(missed, ", "));
  }

  ProcessEnd end_program() {
    if (!program) return {};
    workers.wait_for_end(*program);
    const auto end = program->process(0).poll_end();
    workers.end(*program, false);
    reaper->end_detached();
    if (requests) requests->answer(0);
    program.reset();
    policy.reset();
    windows_go_on = false;
    return end ? end->end : ProcessEnd{};
  }

  std::unique_ptr<RankPolicy> policy_of(const PlannedRun& run, Pass pass) {
    if (run.program.command.empty()) return std::make_unique<RankPolicy>();
    if (run.method.passes.size() > 1)
      log::info(std::string("pass ") + to_string(pass) + " starts the program, with KYMO_PASS=" + to_string(pass));
    return std::make_unique<ProgramPolicy>(run, workers, scratch, program_log);
  }

  std::unique_ptr<RankProcess> start(const SpawnRequest& request) {
    if (leader_options && request.rank != leader_options->launcher_env.rank)
      return std::make_unique<RemoteProcess>(*hub, request.rank, request.run.plan_index, request.token);
    SpawnRequest here = request;
    here.shares_cores = !leader_options;
    here.pass = current_pass;
    here.program_log = program_log;
    if (requests) here.window_requests = requests->file();
    if (auto process = policy->process_of(request.rank)) return process;
    const LocalPlacement placement =
        leader_options ? LocalPlacement{leader_options->launcher_env.local_rank, leader_options->launcher_env.gpu}
                       : LocalPlacement{request.rank, request.rank};
    auto started = std::make_unique<LocalProcess>(loop, config.worker_command(here), *reaper, placement);
    policy->started(*started);
    return started;
  }

  void begin_pass(std::int64_t run_id, const PlannedRun& run, Pass pass, std::unique_ptr<WorkerTeam> team) {
    PassLimits limits = config.limits;
    limits.timeout_s = run.method.timeout_s;
    limits.max_pass_time_s = run.method.max_pass_time_s;
    limits.all_runs = all_runs;
    limits.host_memory_bytes = run.method.host_memory_bytes;
    if (!run.method.wrap.empty()) limits.report_grace_s = config.wrapped_grace_s;
    protocol::Assignment assignment;
    assignment.run_id = run_id;
    assignment.what = run.what;
    assignment.plugin_description = run.plugin_description;
    assignment.method = run.method;
    assignment.pass = pass;
    policy->adapt(limits, assignment);
    if (leader_options) assignment.rendezvous_host = leader_options->launcher_env.rendezvous_host();
    assignment.rendezvous_port = team->count() > 1 ? free_port(leader_options != nullptr) : std::uint16_t{0};
    execution = std::make_unique<PassExecution>(std::move(team), assignment, limits, scratch, meter, run.program);
    if (signal_number != 0) execution->cancel(signal_name(signal_number));
  }

  void end_pass(const PlannedRun& run, Pass pass, bool reusable, ExecutedRun& made) {
    const PassState result = execution->finish();
    WorkerTeam& team = execution->team();
    const bool goes_on = windows_go_on && result.verdict().status == RunStatus::kOk && !workers.killed();
    Outcome verdict = goes_on ? result.verdict() : policy->verdict(result, team);
    const auto verification = result.verification();
    if (pass == Pass::kVerify) made.outcome.verification = verification.value_or(event::CheckOutcome::kUnavailable);
    if (verdict.status == RunStatus::kOk && verification == event::CheckOutcome::kFailed)
      verdict = {RunStatus::kFailed, "the result differs from the reference"};
    // A rank that skips a run leaves the others waiting for it. A worker that has started processes which left its
    // group is not kept, so that they belong to this run.
    const bool intact_team =
        verdict.status == RunStatus::kOk || (verdict.status == RunStatus::kSkipped && team.count() == 1);
    const bool can_keep = intact_team && !workers.killed() && team.usable() && !reaper->has_detached();
    const bool keep = can_keep && (reusable || keeps_forks(run, pass));
    const std::string removed = scratch.lost();
    if (!removed.empty()) add_lost_directory(verdict, removed);
    made.outcome.exit_code = verdict.exit_code;
    if (verdict.status != RunStatus::kOk) end_run(made.outcome, std::move(verdict), pass);
    if (!keep && !goes_on) workers.end(team, !run.method.wrap.empty());
    execution->collect();
    while (!workers.killed() && !execution->collected()) loop.run_one();
    if (!keep && !goes_on)
      if (auto names = reaper->end_detached(); !names.empty()) made.detached.push_back({-1, pass, std::move(names)});
    if (auto lost = execution->lost_measurements(); lost && made.outcome.status == RunStatus::kOk)
      end_run(made.outcome, std::move(*lost), pass);
    execution->add_results(result, made);
    if (removed.empty()) policy->add_results(*execution, made);
    if (keep && reusable) workers.keep(execution->take_team(), run);
    if (keep && !reusable) workers.keep_for_forks(execution->take_team(), run);
    if (goes_on) keep_program(execution->take_team());
  }

  bool intact() const { return !hub || hub->intact(); }

  bool can_continue(std::size_t left) const {
    if (intact()) return true;
    log::error("a rank is lost; " + std::to_string(left) + (left == 1 ? " run was" : " runs were") +
               " not started; use --resume to run the rest");
    return false;
  }

  asio::io_context loop{1};
  SupervisorConfig config;
  const Scratch& scratch;
  ProgressMeter& meter;
  const LeaderOptions* leader_options;
  std::unique_ptr<ProcessReaper> reaper =
      std::make_unique<ProcessReaper>();  // created before signal handlers are installed
  ControlServer server;
  SignalWatch signals;
  asio::steady_timer timer;

  std::unique_ptr<FollowerHub> hub;  ///< only on the leader; outlives the workers
  WorkerPool workers;
  std::unique_ptr<PassExecution> execution;  ///< of the current pass
  double last_tick_s = 0;
  TimeLimit all_runs;
  std::unique_ptr<RankPolicy> policy;  ///< of the current pass
  Pass current_pass = Pass::kTime;
  std::filesystem::path program_log;  ///< of the current program
  int starts = 0;                     ///< of workers and programs

  bool windows_go_on = false;                                        ///< the current program may have further windows
  std::unique_ptr<WorkerTeam> program;                               ///< which goes on between two windows
  ObservedProcesses processes = ObservedProcesses::kFound;           ///< of the program
  std::vector<std::pair<WorkerId, protocol::Hello>> in_next_window;  ///< connections of ranks that have begun it
  std::size_t windows_begun = 0;                                     ///< of further_windows
  std::optional<WindowRequests> requests;
  int signal_number = 0;
  int own_signals = 0;  ///< signals received by this process itself
  bool executes_command = false;
};

RunExecutor::RunExecutor(const SupervisorConfig& config, const Scratch& scratch, ProgressMeter& meter,
                         const LeaderOptions* leader_options)
    : impl_(std::make_unique<Impl>(config, scratch, meter, leader_options)) {}
RunExecutor::~RunExecutor() = default;

ExecutedRun RunExecutor::execute(std::int64_t run_id, const PlannedRun& run, const TimeLimit& all_runs) {
  return impl_->execute(run_id, run, all_runs);
}

void RunExecutor::gather_followers() {
  if (impl_->hub) impl_->hub->gather([this] { return impl_->signal_number != 0; });
}
bool RunExecutor::can_continue(std::size_t left) { return impl_->can_continue(left); }
void RunExecutor::finish_followers(int code) {
  if (impl_->hub) impl_->hub->finish(code);
}

std::optional<Window> RunExecutor::next_window(PlannedRun& run) { return impl_->next_window(run); }
void RunExecutor::end_window(std::int64_t run_id) {
  if (impl_->requests) impl_->requests->answer(run_id);
}
ProcessEnd RunExecutor::end_program() { return impl_->end_program(); }

int RunExecutor::interrupted_by() {
  impl_->loop.poll();
  return impl_->signal_number;
}

void RunExecutor::close() { impl_->workers.end_all(); }

}  // namespace kymo::supervisor
