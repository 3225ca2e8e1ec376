// SPDX-License-Identifier: Apache-2.0
#include "supervisor/run_executor.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/tcp.hpp"
#include "base/text.hpp"
#include "supervisor/follower_hub.hpp"
#include "supervisor/pass_state.hpp"
#include "supervisor/process_reaper.hpp"
#include "supervisor/remote_process.hpp"
#include "supervisor/signals.hpp"
#include "supervisor/steady_seconds.hpp"
#include "supervisor/worker_process.hpp"
#include "supervisor/worker_team.hpp"

namespace kymo::supervisor {
namespace asio = boost::asio;
using measure::Pass;

namespace {

constexpr std::chrono::milliseconds kTick{50};     ///< interval of the checks for ended processes, memory use and
                                                   ///< deadlines
constexpr double kStopped_s = 2;                   ///< a longer interval between two checks means that kymo was stopped
constexpr std::chrono::milliseconds kSoonTick{2};  ///< the interval when a process is about to end

std::string worker_key(const PlannedRun& run) { return measure::equivalence_key(run, measure::Equivalence::kWorker); }

/// Ends a run with the outcome of a pass; keeps the result of the verify pass.
void end_run(Outcome& run, Outcome outcome, Pass pass) {
  outcome.verification = run.verification;
  outcome.pass = pass;
  run = outcome.status == RunStatus::kSkipped ? Outcome{outcome.status, outcome.detail, outcome.verification}
                                              : std::move(outcome);
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
                [this](WorkerId id, const std::string& error_message) { on_closed(id, error_message); }, joining()},
               leader_options ? listen_address(leader_options->launcher_env) : ListenAt{scratch.folder() / "control"}),
        signals(loop, [this](int number) { on_signal(number); }),
        timer(loop) {
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

  // Event handlers.

  void arm_timer() {
    const bool soon = (active && active->ending()) || (leaving && leaving->ending());
    timer.expires_after(soon ? kSoonTick : kTick);
    timer.async_wait([this](const boost::system::error_code& cancelled) {
      if (cancelled) return;
      on_tick();
      arm_timer();
    });
  }

  /// A process may be about to end: do not wait for the next regular check.
  void look_soon() { arm_timer(); }

  void on_tick() {
    const double now = steady_seconds();
    // After a stop (Ctrl-Z), messages of the workers are still unread. Read them before checking deadlines.
    const bool was_stopped = now - std::exchange(last_tick_s, now) > kStopped_s;
    if (active && state && !was_stopped) {
      watch_all(now);
      apply(state->tick(now));
    }
    if (idle && !idle->usable()) idle.reset();
    meter.tick(now);
  }

  void watch_all(double now) {
    for (int rank = 0; rank < active->count(); ++rank) watch(rank, active->process(rank), now);
  }

  void watch(int rank, RankProcess& process, double now) {
    const auto use = process.reaped() ? std::nullopt : process.memory_use(limits.host_memory_bytes);
    if (use) apply(state->resident(rank, use->bytes, use->available_bytes, now));
    if (const auto end = active->take_end(rank, now)) apply(state->ended(rank, *end, now));
  }

  void on_connected(WorkerId id, const protocol::Hello& hello) {
    const auto rank = active ? active->rank_of(id) : std::nullopt;
    if (!rank) return;
    if (state) state->connected(*rank, steady_seconds());
    active->connected(*rank, hello);
  }

  void on_frame(WorkerId id, Frame& frame) {
    if (idle && idle->rank_of(id)) throw Error("unexpected frame from an idle worker");
    const auto rank = active && state ? active->rank_of(id) : std::nullopt;
    if (!rank) return;
    const double now = steady_seconds();
    const std::string type = protocol::type_of(frame.message);
    if (type == "progress") {
      const auto progress = protocol::message_from<protocol::Progress>(frame);
      state->progress(*rank, progress, now);
      if (*rank == 0) meter.update(progress, now);
    } else if (type == "barrier") {
      apply(state->barrier(*rank, protocol::message_from<protocol::Barrier>(frame), now));
    } else if (type == "gather") {
      apply(state->gather(*rank, protocol::message_from<protocol::Gather>(frame), now));
    } else if (type == "outcome") {
      apply(state->outcome(*rank, protocol::message_from<Outcome>(frame), now));
    } else {
      throw Error("a worker does not send frames of type '" + type + "'");
    }
  }

  void on_closed(WorkerId id, const std::string& error_message) {
    look_soon();
    if (idle && idle->rank_of(id)) idle.reset();
    const auto rank = active ? active->rank_of(id) : std::nullopt;
    if (!rank) return;
    active->closed(*rank);
    if (!state) return;
    if (error_message.empty()) {
      state->disconnected(*rank, steady_seconds());
    } else {
      apply(state->violation(*rank, error_message, steady_seconds()));
    }
  }

  void on_signal(int number) {
    if (number == SIGTSTP) return reaper->suspend();
    const double now = steady_seconds();
    if (++own_signals == 1) return cancel(number, signal_name(number));
    at_once = true;
    if (active && state) apply(state->cancel_at_once(now));
    for (WorkerTeam* team : {active.get(), leaving.get(), idle.get()})
      if (team) team->kill();
  }

  /// The launcher may signal all ranks; a later signal of this process then still counts as its first.
  void on_follower_signal(int rank, int number) {
    cancel(number, std::string(signal_name(number)) + " on rank " + std::to_string(rank));
  }

  void cancel(int number, const std::string& name) {
    if (signal_number != 0) return;
    signal_number = number;
    log::warning(name + ": stopping after the current step; send the signal again to stop immediately");
    if (!active || !state) return;
    watch_all(steady_seconds());  // a lost rank may be the reason
    apply(state->cancel(name, steady_seconds()));
  }

  void apply(const Actions& actions) {
    for (const auto& action : actions) std::visit([this](const auto& what) { run_assignment(what); }, action);
  }
  void run_assignment(const Release& what) { active->send(what.rank, protocol::Released{what.sequence, what.stop}); }
  void run_assignment(const Collected& what) {
    const auto message = protocol::gathered(what.sequence, what.payloads);
    active->send(what.rank, message, message.payload);
  }
  void run_assignment(const SendCancel& what) { active->send(what.rank, protocol::Cancel{}); }
  void run_assignment(const SendExit& what) { active->send(what.rank, protocol::Exit{}); }
  void run_assignment(const Kill& what) {
    active->process(what.rank).kill();
    look_soon();
  }

  // Main sequence.

  ExecutedRun make(std::int64_t run_id, const PlannedRun& run) {
    ExecutedRun made;
    const bool fits = !run.method.fresh && worker_key(run) == idle_key;
    if (idle && !fits) release_all_followers(std::move(idle));
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
    }
    return made;
  }

  void run_pass(std::int64_t run_id, const PlannedRun& run, Pass pass, ExecutedRun& made) {
    const bool reusable = pass == Pass::kTime && !run.method.fresh;
    const bool reused = reusable && idle && idle->usable();
    limits = config.limits;
    limits.timeout_s = run.method.timeout_s;
    limits.host_memory_bytes = run.method.host_memory_bytes;
    if (!run.method.wrap.empty()) limits.report_grace_s = config.wrapped_grace_s;
    try {
      active = reused ? std::move(idle)
                      : std::make_unique<WorkerTeam>(
                            server, [this](const SpawnRequest& request) { return start(request); }, run);
      begin_pass(run_id, run, pass);
    } catch (const Error& error) {
      const RunStatus status = hub && !hub->intact() ? RunStatus::kCrashed : RunStatus::kFailed;
      end_run(made.outcome, {status, std::string("cannot start a worker: ") + error.what()}, pass);
      state.reset();
      active.reset();
      return;
    }
    while (!state->done()) loop.run_one();
    if (reused && died_untouched() && (!hub || hub->intact())) {
      state.reset();
      active.reset();
      return run_pass(run_id, run, pass, made);
    }
    end_pass(run_id, run, pass, reusable, made);
  }

  std::unique_ptr<RankProcess> start(const SpawnRequest& request) {
    if (leader_options && request.rank != leader_options->launcher_env.rank)
      return std::make_unique<RemoteProcess>(*hub, request.rank, request.run.plan_index, request.token);
    SpawnRequest here = request;
    here.shares_cores = !leader_options;
    const LocalPlacement placement =
        leader_options ? LocalPlacement{leader_options->launcher_env.local_rank, leader_options->launcher_env.gpu}
                       : LocalPlacement{request.rank, request.rank};
    return std::make_unique<LocalProcess>(loop, config.worker_command(here), *reaper, placement);
  }

  void begin_pass(std::int64_t run_id, const PlannedRun& run, Pass pass) {
    state.emplace(pass, active->count(), limits, steady_seconds(), [this, run_id, pass](int rank) {
      return measure::StatusPage::read(scratch.status_file(run_id, rank, pass));
    });
    protocol::Assignment assignment;
    assignment.run_id = run_id;
    assignment.what = run.what;
    assignment.plugin_description = run.plugin_description;
    assignment.method = run.method;
    assignment.pass = pass;
    if (leader_options) assignment.rendezvous_host = leader_options->launcher_env.rendezvous_host();
    assignment.rendezvous_port = active->count() > 1 ? free_port(leader_options != nullptr) : std::uint16_t{0};
    for (int rank = 0; rank < active->count(); ++rank) {
      active->process(rank).begin_pass(run_id, pass);
      assignment.rank = rank;
      assignment.what = run.what;
      assignment.rank_file = scratch.rank_file(run_id, rank, pass).string();
      active->process(rank).localize(assignment);
      if (active->is_connected(rank)) state->connected(rank, steady_seconds());  // reused
      active->assign(rank, assignment);
    }
    if (signal_number != 0) apply(state->cancel(signal_name(signal_number), steady_seconds()));
  }

  /// True if a reused worker ended before it started this run, which says nothing about the run.
  bool died_untouched() const {
    const Outcome& verdict = state->verdict();
    return verdict.status == RunStatus::kCrashed && verdict.rank && state->progress_of(*verdict.rank).stage == "start";
  }

  void end_pass(std::int64_t run_id, const PlannedRun& run, Pass pass, bool reusable, ExecutedRun& made) {
    const PassState result = *std::exchange(state, std::nullopt);
    Outcome verdict = result.verdict();
    const auto verification = result.verification();
    if (pass == Pass::kVerify) made.outcome.verification = verification.value_or(event::CheckOutcome::kUnavailable);
    if (verdict.status == RunStatus::kOk && verification == event::CheckOutcome::kFailed)
      verdict = {RunStatus::kFailed, "the result differs from the reference"};
    const bool keep =
        reusable && verdict.status == RunStatus::kOk && !at_once && active->usable() && !reaper->has_detached();
    if (verdict.status != RunStatus::kOk) end_run(made.outcome, std::move(verdict), pass);
    if (!keep) wait_for_exit(*active, run.method.wrap.empty() ? config.exit_grace_s : config.wrapped_grace_s);
    collect(run_id, pass);
    note_detached(pass, keep, made);
    note_lost(pass, made);
    for (int rank = 0; rank < active->count(); ++rank) record(run_id, rank, pass, result, made);
    if (keep) {
      idle_key = worker_key(run);
      idle_wrapped = !run.method.wrap.empty();
      idle = std::move(active);
    }
    active.reset();
  }

  /// Transfers the output of the pass from other machines.
  void collect(std::int64_t run_id, Pass pass) {
    for (int rank = 0; rank < active->count(); ++rank)
      active->process(rank).collect(scratch.rank_file(run_id, rank, pass));
    for (int rank = 0; rank < active->count(); ++rank)
      while (!at_once && !active->process(rank).collected(steady_seconds())) loop.run_one();
  }

  /// A worker that has started such processes is not kept, so that they belong to this run.
  void note_detached(Pass pass, bool keep, ExecutedRun& made) {
    const auto add = [&](int rank, std::vector<std::string> names) {
      if (!names.empty()) made.detached.push_back({rank, pass, std::move(names)});
    };
    if (keep) return;
    add(-1, reaper->end_detached());
    for (int rank = 0; rank < active->count(); ++rank)
      if (auto end = active->process(rank).poll_end()) add(rank, std::move(end->detached));
  }

  /// If a rank is lost after reporting its outcome, its measurements are lost too.
  void note_lost(Pass pass, ExecutedRun& made) {
    for (int rank = 0; hub && made.outcome.status == RunStatus::kOk && rank < active->count(); ++rank) {
      const auto end = active->process(rank).poll_end();
      if (end && !end->lost.empty()) end_run(made.outcome, lost_after_report(rank, end->lost), pass);
    }
  }

  void record(std::int64_t run_id, int rank, Pass pass, const PassState& result, ExecutedRun& made) {
    RankProcess& process = active->process(rank);
    auto output = process.take_output();
    store::WorkerRow row;
    row.rank = rank;
    row.pass = pass;
    row.pid = process.worker_pid();
    row.host = process.host();
    row.status = result.status_of(rank);
    row.stdout_text = std::move(output.stdout_text);
    row.stderr_text = std::move(output.stderr_text);
    made.workers.push_back(std::move(row));
    const auto file = scratch.rank_file(run_id, rank, pass);
    std::error_code ignored;
    std::filesystem::remove(scratch.status_file(run_id, rank, pass), ignored);
    // If the worker was lost, its measurements are missing; list the file even if it does not exist.
    if (pass != Pass::kVerify || std::filesystem::exists(file, ignored)) made.rank_files.push_back(file);
  }

  /// Tells a team to exit and kills the workers that are still running after the grace period.
  void wait_for_exit(WorkerTeam& team, double grace_s) {
    team.send_exit();
    look_soon();
    const double deadline = steady_seconds() + grace_s;
    while (!team.ended()) {
      if (at_once || steady_seconds() >= deadline) team.kill();
      if (steady_seconds() >= deadline + limits.abandon_s) return;
      loop.run_one();
    }
  }

  bool can_continue(std::size_t left) const {
    if (!hub || hub->intact()) return true;
    log::error("a rank is lost; " + std::to_string(left) + (left == 1 ? " run was" : " runs were") +
               " not started; use --resume to run the rest");
    return false;
  }

  void release_all_followers(std::unique_ptr<WorkerTeam> team) {
    leaving = std::move(team);
    wait_for_exit(*leaving, idle_wrapped ? config.wrapped_grace_s : config.exit_grace_s);
    leaving.reset();
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

  std::unique_ptr<FollowerHub> hub;     ///< only on the leader; outlives the teams
  std::unique_ptr<WorkerTeam> active;   ///< executes a pass
  std::unique_ptr<WorkerTeam> leaving;  ///< was told to exit
  std::unique_ptr<WorkerTeam> idle;     ///< kept for the next compatible run
  std::string idle_key;
  bool idle_wrapped = false;
  std::optional<PassState> state;  ///< state of the current pass of the active team
  PassLimits limits;
  double last_tick_s = 0;
  int signal_number = 0;
  int own_signals = 0;  ///< signals received by this process itself
  bool at_once = false;
};

RunExecutor::RunExecutor(const SupervisorConfig& config, const Scratch& scratch, ProgressMeter& meter,
                         const LeaderOptions* leader_options)
    : impl_(std::make_unique<Impl>(config, scratch, meter, leader_options)) {}
RunExecutor::~RunExecutor() = default;

ExecutedRun RunExecutor::make(std::int64_t run_id, const PlannedRun& run) { return impl_->make(run_id, run); }

void RunExecutor::gather_followers() {
  if (impl_->hub) impl_->hub->gather([this] { return impl_->signal_number != 0; });
}
bool RunExecutor::can_continue(std::size_t left) { return impl_->can_continue(left); }
void RunExecutor::finish_followers(int code) {
  if (impl_->hub) impl_->hub->finish(code);
}

int RunExecutor::interrupted_by() {
  impl_->loop.poll();
  return impl_->signal_number;
}

void RunExecutor::close() {
  if (impl_->idle) impl_->release_all_followers(std::move(impl_->idle));
}

}  // namespace kymo::supervisor
