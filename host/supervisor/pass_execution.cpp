// SPDX-License-Identifier: Apache-2.0
#include "supervisor/pass_execution.hpp"

#include <filesystem>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/ranges.hpp"
#include "store/journal_recovery.hpp"
#include "supervisor/steady_seconds.hpp"

namespace kymo::supervisor {
namespace {

constexpr int kMaxGroupRanks = 4096;  ///< of a process group

struct Performer {
  WorkerTeam& team;

  void operator()(const Release& what) const { team.send(what.rank, protocol::Released{what.sequence, what.stop}); }
  void operator()(const Collected& what) const {
    const auto message = protocol::gathered(what.sequence, what.payloads);
    team.send(what.rank, message, message.payload);
  }
  void operator()(const SendCancel& what) const { team.send(what.rank, protocol::Cancel{}); }
  void operator()(const SendExit& what) const { team.send(what.rank, protocol::Exit{}); }
  void operator()(const Kill& what) const { team.process(what.rank).kill(); }
};

}  // namespace

PassExecution::PassExecution(std::unique_ptr<WorkerTeam> team, const protocol::Assignment& assignment,
                             const PassLimits& limits, const Scratch& scratch, ProgressMeter& meter,
                             const ObservedProgram& program)
    : team_(std::move(team)),
      scratch_(scratch),
      meter_(meter),
      assignment_(assignment),
      limits_(limits),
      run_id_(assignment.run_id),
      pass_(assignment.pass),
      processes_(program.processes),
      observed_ranks_(program.observed_ranks) {
  begin();
}

void PassExecution::begin() {
  state_.emplace(pass_, team_->count(), limits_, steady_seconds(),
                 [this](int rank) { return measure::StatusPage::read(scratch_.status_file(run_id_, rank, pass_)); });
  for (int rank = 0; rank < team_->count(); ++rank) {
    team_->process(rank).begin_pass(run_id_, pass_);
    if (!takes_part(rank)) {
      state_->leave_out(rank);
      continue;
    }
    protocol::Assignment own = assignment_;
    own.rank = rank;
    own.rank_file = scratch_.rank_file(run_id_, rank, pass_).string();
    team_->process(rank).localize(own);
    if (team_->is_connected(rank)) state_->connected(rank, steady_seconds());  // reused
    team_->assign(rank, own);
  }
}

bool PassExecution::takes_part(int rank) const {
  // Until the ranks are known, a pass without the first one must not be complete.
  return observed_ranks_.empty() || contains(observed_ranks_, rank) ||
         (state_ && processes_ == ObservedProcesses::kFound);
}

bool PassExecution::admits(const protocol::Hello& hello,
                           const std::function<std::unique_ptr<RankProcess>(int)>& process_of) {
  const bool is_open = state_ && processes_ == ObservedProcesses::kFound;
  if (is_open && hello.ranks > 0 && hello.ranks <= kMaxGroupRanks &&
      !std::filesystem::exists(scratch_.rank_file(run_id_, 0, pass_))) {
    scratch_.clear(run_id_, 0, pass_);
    processes_ = ObservedProcesses::kRanks;
    assignment_.what.ranks = hello.ranks;
    team_->replace(hello.ranks, process_of);
    begin();
  }
  const bool is_same_group = hello.ranks == (processes_ == ObservedProcesses::kFound ? 0 : team_->count());
  const bool is_rank = is_same_group && hello.rank >= 0 && hello.rank < team_->count();
  if (state_ && is_rank && !team_->is_connected(hello.rank)) return true;
  const bool has_ranks = is_open || processes_ == ObservedProcesses::kRanks;
  if (hello.ranks > 0 && has_ranks) ++late_ranks_;
  return false;
}

void PassExecution::apply(const Actions& actions) {
  for (const auto& action : actions) std::visit(Performer{*team_}, action);
}

void PassExecution::connected(WorkerId worker, const protocol::Hello& hello) {
  const auto rank = team_->rank_of(worker);
  if (!rank) return;
  if (state_) state_->connected(*rank, steady_seconds());
  team_->connected(*rank, hello);
}

void PassExecution::received(WorkerId worker, Frame& frame) {
  const auto rank = state_ ? team_->rank_of(worker) : std::nullopt;
  if (!rank) return;
  const double now_s = steady_seconds();
  const std::string type = protocol::type_of(frame.message);
  if (type == "progress") {
    const auto progress = protocol::message_from<protocol::Progress>(frame);
    state_->progress(*rank, progress, now_s);
    if (*rank == 0) meter_.update(progress, now_s);
  } else if (type == "barrier") {
    apply(state_->barrier(*rank, protocol::message_from<protocol::Barrier>(frame), now_s));
  } else if (type == "gather") {
    apply(state_->gather(*rank, protocol::message_from<protocol::Gather>(frame), now_s));
  } else if (type == "outcome") {
    apply(state_->outcome(*rank, protocol::message_from<Outcome>(frame), now_s));
  } else {
    throw Error("a worker does not send frames of type '" + type + "'");
  }
}

void PassExecution::closed(WorkerId worker, const std::string& error_message) {
  const auto rank = team_->rank_of(worker);
  if (!rank) return;
  team_->closed(*rank);
  if (!state_) return;
  if (error_message.empty()) {
    state_->disconnected(*rank, steady_seconds());
  } else {
    apply(state_->violation(*rank, error_message, steady_seconds()));
  }
}

void PassExecution::watch(double now_s) {
  for (int rank = 0; state_ && rank < team_->count(); ++rank) {
    RankProcess& process = team_->process(rank);
    const auto use = process.reaped() ? std::nullopt : process.memory_use(limits_.host_memory_bytes);
    if (use) apply(state_->resident(rank, use->bytes, use->available_bytes, now_s));
    auto end = team_->take_end(rank, now_s);
    if (!end) continue;
    end->of_program = processes_ == ObservedProcesses::kRanks;
    apply(state_->ended(rank, *end, now_s));
  }
}

bool PassExecution::has_reported(int rank) const {
  return !state_ || (rank >= 0 && rank < team_->count() && state_->reported(rank));
}

void PassExecution::tick(double now_s) {
  watch(now_s);
  if (state_) apply(state_->tick(now_s));
}

void PassExecution::cancel(const std::string& signal_name) {
  watch(steady_seconds());  // a lost rank may be the reason
  if (state_) apply(state_->cancel(signal_name, steady_seconds()));
}

void PassExecution::cancel_at_once() {
  if (state_) apply(state_->cancel_at_once(steady_seconds()));
  team_->kill();
}

bool PassExecution::died_untouched() const {
  const Outcome& verdict = state_->verdict();
  return verdict.status == RunStatus::kCrashed && verdict.rank && state_->progress_of(*verdict.rank).stage == "start";
}

void PassExecution::collect() {
  for (int rank = 0; rank < team_->count(); ++rank)
    team_->process(rank).collect(scratch_.rank_file(run_id_, rank, pass_));
}

bool PassExecution::collected() {
  for (int rank = 0; rank < team_->count(); ++rank)
    if (!team_->process(rank).collected(steady_seconds())) return false;
  return true;
}

std::optional<Outcome> PassExecution::lost_measurements() {
  for (int rank = 0; rank < team_->count(); ++rank) {
    const auto end = team_->process(rank).poll_end();
    if (end && !end->lost.empty()) return lost_after_report(rank, end->lost);
  }
  return std::nullopt;
}

void PassExecution::recover(int rank, const std::filesystem::path& file) {
  try {
    store::recover_from_journal(file, run_id_, rank, pass_, scratch_.damaged_journals());
  } catch (const std::exception& error) {
    log::warning("the steps of rank " + std::to_string(rank) + " could not be recovered: " + error.what());
  }
}

void PassExecution::add_results(const PassState& result, ExecutedRun& executed) {
  for (int rank = 0; rank < team_->count(); ++rank) {
    RankProcess& process = team_->process(rank);
    if (auto end = process.poll_end(); end && !end->detached.empty())
      executed.detached.push_back({rank, pass_, std::move(end->detached)});
    if (!takes_part(rank)) continue;
    auto output = process.take_output();
    store::WorkerRow& row = executed.workers.emplace_back();
    row.rank = rank;
    row.pass = pass_;
    row.pid = process.worker_pid();
    row.host = process.host();
    row.status = result.status_of(rank);
    row.stdout_text = std::move(output.stdout_text);
    row.stderr_text = std::move(output.stderr_text);
    const auto file = scratch_.rank_file(run_id_, rank, pass_);
    recover(rank, file);
    const bool has_measurements = result.began_steps(rank);  // reads the status file
    std::error_code ignored;
    std::filesystem::remove(scratch_.status_file(run_id_, rank, pass_), ignored);
    // A file that is listed but does not exist counts as dropped records: the worker was lost with its measurements.
    if (has_measurements || std::filesystem::exists(file, ignored)) executed.rank_files.push_back(file);
  }
}

}  // namespace kymo::supervisor
