// SPDX-License-Identifier: Apache-2.0
#include "supervisor/worker_team.hpp"

#include <algorithm>
#include <utility>

#include "base/file.hpp"
#include "base/json.hpp"

namespace kymo::supervisor {
namespace {

/// After a worker ends, its connection closes behind its last messages, unless another process holds it open.
constexpr double kOutputDrainTimeout_s = 1;

}  // namespace

WorkerTeam::WorkerTeam(ControlServer& server, const Starter& start, const PlannedRun& run)
    : server_(server), token_(random_token()) {
  try {
    for (int rank = 0; rank < run.what.ranks; ++rank) members_.emplace_back().id = server_.expect(token_, rank);
    for (int rank = 0; rank < run.what.ranks; ++rank)
      member(rank).process = start(SpawnRequest{run, rank, server_.address(), token_});
  } catch (...) {
    for (const auto& each : members_) server_.forget(each.id);
    throw;
  }
}

WorkerTeam::~WorkerTeam() {
  kill();  // kill all workers first, because each destructor waits for its own
  for (const auto& each : members_) server_.forget(each.id);
}

void WorkerTeam::replace(int ranks, const std::function<std::unique_ptr<RankProcess>(int)>& process_of) {
  server_.forget(member(0).id);
  Member first;
  first.process = std::move(member(0).process);
  members_.clear();
  members_.push_back(std::move(first));
  for (int rank = 1; rank < ranks; ++rank) members_.emplace_back().process = process_of(rank);
  for (int rank = 0; rank < ranks; ++rank) member(rank).id = server_.expect(token_, rank);
}

std::optional<int> WorkerTeam::rank_of(WorkerId worker) const {
  const auto found =
      std::find_if(members_.begin(), members_.end(), [&](const Member& each) { return each.id == worker; });
  if (found == members_.end()) return std::nullopt;
  return static_cast<int>(found - members_.begin());
}

void WorkerTeam::assign(int rank, const measure::protocol::Assignment& assignment) {
  if (member(rank).connected) {
    send(rank, assignment);
  } else {
    member(rank).waiting_assignment = assignment;
  }
}

void WorkerTeam::connected(int rank, const measure::protocol::Hello& hello) {
  Member& who = member(rank);
  who.connected = true;
  who.pid = hello.pid;
  who.closed = false;
  who.process->announce(static_cast<pid_t>(hello.pid));
  if (who.waiting_assignment) send(rank, *std::exchange(who.waiting_assignment, std::nullopt));
}

void WorkerTeam::closed(int rank) { member(rank).closed = true; }

void WorkerTeam::expect_again(int rank) {
  Member& who = member(rank);
  server_.forget(who.id);
  Member again;
  again.id = server_.expect(token_, rank);
  again.process = std::move(who.process);
  again.pid = who.pid;
  who = std::move(again);
}

void WorkerTeam::send(int rank, const Json& message, std::string_view payload) {
  server_.send(member(rank).id, message, payload);
}

void WorkerTeam::send_exit() {
  for (int rank = 0; rank < count(); ++rank) send(rank, measure::protocol::Exit{});
}

void WorkerTeam::kill() {
  for (const auto& each : members_)
    if (each.process) each.process->kill();
}

std::optional<WorkerEnd> WorkerTeam::take_end(int rank, double now_s) {
  Member& who = member(rank);
  if (who.end_taken) return std::nullopt;
  auto end = who.process->poll_end();
  if (!end) return std::nullopt;
  if (!who.ended_s) who.ended_s = now_s;
  // The system may report the end before the preceding outcome has been read.
  const bool may_have_unread_messages = who.connected && !who.closed && end->lost.empty();
  if (may_have_unread_messages && now_s - *who.ended_s < kOutputDrainTimeout_s) return std::nullopt;
  who.end_taken = true;
  return end;
}

bool WorkerTeam::usable() {
  return std::all_of(members_.begin(), members_.end(),
                     [](const Member& each) { return each.connected && !each.closed && !each.process->poll_end(); });
}

bool WorkerTeam::ended() {
  return std::all_of(members_.begin(), members_.end(),
                     [](const Member& each) { return each.process->poll_end().has_value(); });
}

bool WorkerTeam::ending() const {
  return std::any_of(members_.begin(), members_.end(), [](const Member& each) {
    if (each.process->reaped()) return each.ended_s && !each.end_taken;
    return each.closed || (!each.connected && each.process->output_closed());
  });
}

}  // namespace kymo::supervisor
