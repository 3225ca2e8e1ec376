// SPDX-License-Identifier: Apache-2.0
#include "supervisor/worker_pool.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <csignal>
#include <utility>

#include "supervisor/steady_seconds.hpp"

namespace kymo::supervisor {
namespace {

constexpr std::size_t kMaxKept = 10;  ///< processes of so many workloads, as of the candidates of `kymo ab`

std::string worker_key(const PlannedRun& run) {
  return (predicts_only(run) ? "predict " : "") + measure::equivalence_key(run, measure::Equivalence::kWorker);
}

}  // namespace

WorkerPool::WorkerPool(boost::asio::io_context& loop, ControlServer& server, const SupervisorConfig& config,
                       WorkerTeam::Starter start)
    : loop_(loop), server_(server), config_(config), start_(std::move(start)) {}

void WorkerPool::keep(std::unique_ptr<WorkerTeam> team, const PlannedRun& run) {
  idle_key_ = worker_key(run);
  idle_wrapped_ = !run.method.wrap.empty();
  idle_ = std::move(team);
}

void WorkerPool::prepare_for(const PlannedRun& run) {
  if (run.method.fresh || worker_key(run) != idle_key_) end_idle();
}

std::unique_ptr<WorkerTeam> WorkerPool::take_idle() { return idle_ && idle_->usable() ? std::move(idle_) : nullptr; }

void WorkerPool::keep_for_forks(std::unique_ptr<WorkerTeam> team, const PlannedRun& run) {
  for (int rank = 0; rank < team->count(); ++rank) {
    team->process(rank).signal(kStayAfterFork);
    team->expect_again(rank);  // closes the connection, at which the fork ends
  }
  PlannedRun served = run;
  served.what.ranks = team->count();
  for_forks_.push_back({worker_key(served), std::move(team)});
  if (for_forks_.size() <= kMaxKept) return;
  Kept oldest = std::move(for_forks_.front());
  for_forks_.pop_front();
  end_kept(std::move(oldest));
}

std::unique_ptr<WorkerTeam> WorkerPool::take_forks(const PlannedRun& run) {
  const auto found = std::ranges::find(for_forks_, worker_key(run), &Kept::key);
  if (found == for_forks_.end()) return nullptr;
  std::unique_ptr<WorkerTeam> team = std::move(found->team);
  for_forks_.erase(found);
  for (int rank = 0; rank < team->count(); ++rank) {
    if (team->process(rank).poll_end()) return nullptr;
    team->process(rank).signal(kForkAgain);
  }
  return team;
}

void WorkerPool::end_kept(Kept kept) {
  leaving_ = std::move(kept.team);
  for (int rank = 0; rank < leaving_->count(); ++rank) leaving_->process(rank).signal(SIGTERM);
  end(*leaving_, false);
  leaving_.reset();
}

void WorkerPool::end_all() {
  end_idle();
  for (Kept& kept : std::exchange(for_forks_, {})) end_kept(std::move(kept));
}

void WorkerPool::end(WorkerTeam& team, bool wrapped) {
  team.send_exit();
  const double deadline_s = steady_seconds() + (wrapped ? config_.wrapped_grace_s : config_.exit_grace_s);
  while (!team.ended()) {
    if (killed_ || steady_seconds() >= deadline_s) team.kill();
    if (steady_seconds() >= deadline_s + config_.limits.abandon_s) return;
    loop_.run_one();
  }
}

void WorkerPool::wait_for_end(WorkerTeam& team) {
  while (!team.ended() && !killed_) loop_.run_one();
}

void WorkerPool::end_idle() {
  if (!idle_) return;
  leaving_ = std::move(idle_);
  end(*leaving_, idle_wrapped_);
  leaving_.reset();
}

void WorkerPool::kill() {
  killed_ = true;
  for (WorkerTeam* team : {leaving_.get(), idle_.get()})
    if (team) team->kill();
  for (const Kept& kept : for_forks_) kept.team->kill();
}

void WorkerPool::closed(WorkerId worker) {
  if (is_idle(worker)) idle_.reset();
  if (leaving_)
    if (const auto rank = leaving_->rank_of(worker)) leaving_->closed(*rank);
}

void WorkerPool::tick() {
  if (idle_ && !idle_->usable()) idle_.reset();
}

}  // namespace kymo::supervisor
