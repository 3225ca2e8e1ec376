// SPDX-License-Identifier: Apache-2.0
#include "supervisor/worker_pool.hpp"

#include <boost/asio/io_context.hpp>
#include <utility>

#include "supervisor/steady_seconds.hpp"

namespace kymo::supervisor {
namespace {

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
