// SPDX-License-Identifier: Apache-2.0
#include "supervisor/pass_state.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>

#include "base/text.hpp"
#include "supervisor/missing_collective.hpp"
#include "supervisor/steady_seconds.hpp"

namespace kymo::supervisor {
PassState::PassState(measure::Pass pass, int ranks, const PassLimits& limits, double now_s, ReadStatus read_status)
    : pass_(pass), limits_(limits), read_status_(std::move(read_status)), ranks_(static_cast<std::size_t>(ranks)) {
  for (auto& rank : ranks_) rank.last_progress_s = now_s;
}

void PassState::moved(int rank, double now_s) { at(rank).last_progress_s = now_s; }

bool PassState::began_steps(int rank) const {
  const auto seen = worker_status(rank);
  return at(rank).at.step >= 0 || (seen && seen->step >= 0);
}

std::string PassState::describe_position(int rank) const {
  const auto& progress = at(rank).at;
  std::string text = std::string("pass ") + to_string(pass_) + ", last reported stage " + quote(progress.stage);
  const auto seen = worker_status(rank);
  const std::int64_t step = seen && seen->step >= 0 ? seen->step : progress.step;
  if (step >= 0) text += ", step " + std::to_string(step);
  if (seen && !seen->phase.empty()) text += ", phase " + quote(seen->phase);
  if (!seen || seen->collectives_begun <= seen->collectives_ended) return text;
  const auto& calls = seen->last_collectives;
  const bool is_known = !calls.empty() && calls.back().number == seen->collectives_begun;
  return text + ", waiting in " +
         (is_known ? describe(calls.back()) : "collective call " + std::to_string(seen->collectives_begun));
}

Outcome PassState::located(int rank, Outcome outcome) const {
  const auto seen = worker_status(rank);
  const auto& progress = at(rank).at;
  outcome.rank = rank;
  if (outcome.phase.empty()) outcome.phase = outcome.stage;
  if (outcome.phase.empty()) outcome.phase = seen && !seen->phase.empty() ? seen->phase : progress.stage;
  if (outcome.step < 0) outcome.step = seen && seen->step >= 0 ? seen->step : progress.step;
  return outcome;
}

void PassState::leave_out(int rank) {
  at(rank).outcome = Outcome{};
  at(rank).ended = true;
}

void PassState::connected(int rank, double now_s) {
  at(rank).connected = true;
  at(rank).disconnected_s.reset();
  moved(rank, now_s);
}

void PassState::progress(int rank, const protocol::Progress& progress, double now_s) {
  at(rank).at = progress;
  at(rank).failing = at(rank).failing || progress.failing;
  moved(rank, now_s);
}

Actions PassState::barrier(int rank, const protocol::Barrier& barrier, double now_s) {
  if (!at(rank).open() || at(rank).waiting())
    return violation(rank, "requested a barrier while already waiting or after its outcome", now_s);
  at(rank).barrier = barrier;
  moved(rank, now_s);
  return serve_waiting(now_s);
}

Actions PassState::gather(int rank, const protocol::Gather& gather, double now_s) {
  if (!at(rank).open() || at(rank).waiting())
    return violation(rank, "requested a gather while already waiting or after its outcome", now_s);
  at(rank).gather = gather;
  moved(rank, now_s);
  return serve_waiting(now_s);
}

Actions PassState::outcome(int rank, const Outcome& outcome, double now_s) {
  if (at(rank).outcome) return violation(rank, "reported its outcome twice", now_s);
  at(rank).outcome = outcome;
  moved(rank, now_s);
  if (outcome.status == RunStatus::kOk) {
    Actions actions = serve_waiting(now_s);
    append(actions, decide_if_due(now_s));
    return actions;
  }
  Outcome verdict = located(rank, outcome);
  if (outcome.status == RunStatus::kSkipped && count() == 1 && cancelled_by_.empty()) {
    verdict_ = std::move(verdict);  // no other rank waits for this one, so the worker can execute the next run
    return {};
  }
  // The other ranks go on until they wait for this one.
  if (outcome.status == RunStatus::kOom)
    return fail(std::move(verdict), kObserved, count() > 1 ? limits_.settle_s : 0, now_s);
  if (outcome.status == RunStatus::kFailed) {
    const double failed_s = outcome.failed_ns < 0 ? now_s : steady_seconds(outcome.failed_ns);
    return fail(std::move(verdict), kReported, limits_.settle_s, now_s, failed_s);
  }
  const Weight weight = outcome.status == RunStatus::kSkipped ? kSkip : kInterruption;
  return fail(std::move(verdict), weight, limits_.skip_settle_s, now_s);
}

Actions PassState::violation(int rank, const std::string& what, double now_s) {
  if (!at(rank).open()) {
    at(rank).killed = true;  // its outcome remains valid; the process is no longer needed
    return {Kill{rank}};
  }
  const std::string detail = "rank " + std::to_string(rank) + " " + what + " (" + describe_position(rank) + ")";
  return fail(located(rank, {RunStatus::kFailed, detail}), kObserved, 0, now_s);
}

void PassState::disconnected(int rank, double now_s) {
  if (at(rank).open()) at(rank).disconnected_s = now_s;
}

int PassState::first_to_disconnect(int rank) const {
  for (int other = 0; other < count(); ++other) {
    const auto& closed_s = at(other).disconnected_s;
    if (!at(other).outcome && closed_s && closed_s < at(rank).disconnected_s.value_or(HUGE_VAL)) rank = other;
  }
  return rank;
}

Outcome PassState::crash_of(int rank, const WorkerEnd& end) const {
  const std::string who = "rank " + std::to_string(rank);
  const std::string where = at(rank).connected ? " (" + describe_position(rank) + ")" : "";
  const std::string when = at(rank).connected ? "before reporting an outcome" : "before connecting";
  Outcome verdict = located(rank, {RunStatus::kCrashed});
  verdict.exit_code = end.end.exit_code;
  verdict.signal = end.end.signal;
  if (end.end.signal == SIGKILL && end.kernel_out_of_memory) {
    verdict.status = RunStatus::kOom;
    verdict.out_of_memory = event::OutOfMemory{"host", std::nullopt, std::nullopt, at(rank).peak_bytes};
    verdict.detail = who + " was killed by the kernel because host memory was exhausted; its peak usage was " +
                     format_bytes(at(rank).peak_bytes) + where;
    return verdict;
  }
  if (!end.lost.empty()) {
    verdict.detail = who + " was lost: " + end.lost + where;
  } else if (end.of_program && at(rank).disconnected_s) {
    verdict.detail = who + " ended " + when + where + "; the program ended with " + end.end.describe();
  } else if (end.end.signal) {
    verdict.detail = who + " was terminated by " + end.end.describe() + where;
  } else {
    verdict.detail = who + " exited with code " + std::to_string(end.end.exit_code.value_or(-1)) + " " + when + where;
  }
  if (!end.last_line.empty()) verdict.detail += "; last output: " + quote(end.last_line);
  return verdict;
}

Actions PassState::ended(int rank, const WorkerEnd& end, double now_s) {
  Rank& who = at(rank);
  const bool by_itself = who.open() && !who.killed;
  who.ended = true;
  who.barrier.reset();
  who.gather.reset();
  if (!by_itself || decided_) return decide_if_due(now_s);
  // Launchers signal all ranks as soon as one dies, and the signal may arrive before the loss is detected. Report the
  // loss as the cause.
  if (!end.lost.empty() && !cancelled_by_.empty() && now_s - cancelled_s_ < limits_.skip_settle_s)
    cancelled_by_.clear();
  // All ranks of a program end with it. It ends the others, or they fail, after the first one has ended.
  const int cause = end.of_program ? first_to_disconnect(rank) : rank;
  // A process that another one ended because of a failure which a rank has reported.
  const auto& closed_s = at(cause).disconnected_s;
  const bool is_consequence = weight_ == kReported && !end.end.signal && closed_s && *closed_s > failed_s_;
  return fail(crash_of(cause, end), is_consequence ? kInterruption : kObserved, 0, now_s);
}

Actions PassState::resident(int rank, std::int64_t bytes, std::optional<std::int64_t> available_bytes, double now_s) {
  Rank& who = at(rank);
  who.peak_bytes = std::max(who.peak_bytes, bytes);
  if (limits_.host_memory_bytes <= 0 || bytes <= limits_.host_memory_bytes || !who.open() || decided_) return {};
  Outcome verdict = located(
      rank, {RunStatus::kOom, "rank " + std::to_string(rank) + " used " + format_bytes(bytes) +
                                  " of host memory, exceeding the limit of " + format_bytes(limits_.host_memory_bytes) +
                                  " (" + describe_position(rank) + ")"});
  verdict.out_of_memory = event::OutOfMemory{"host", std::nullopt, available_bytes, who.peak_bytes};
  return fail(std::move(verdict), kObserved, 0, now_s);
}

Actions PassState::cancel(const std::string& signal_name, double now_s) {
  Actions actions;
  if (!cancelled_by_.empty()) return actions;
  cancelled_by_ = signal_name;
  cancelled_s_ = now_s;
  cancel_deadline_s_ = now_s + limits_.cancel_grace_s;
  for (int rank = 0; rank < count(); ++rank)
    if (at(rank).open()) actions.emplace_back(SendCancel{rank});  // also answers a pending barrier or gather
  return actions;
}

Actions PassState::cancel_at_once(double now_s) {
  if (decided_) {
    kill_reported_s_ = now_s;
    return tick(now_s);
  }
  if (cancelled_by_.empty()) cancelled_by_ = "a signal";
  if (weight_ < 0 || verdict_.status == RunStatus::kInterrupted)
    verdict_ = {RunStatus::kInterrupted, "interrupted by " + cancelled_by_ + " and terminated immediately"};
  Actions actions = decide(now_s);
  kill_reported_s_ = now_s;
  append(actions, tick(now_s));
  return actions;
}

Actions PassState::fail(Outcome verdict, Weight weight, double settle_s, double now_s, std::optional<double> failed_s) {
  if (decided_) return {};
  const double happened_s = failed_s.value_or(now_s);
  if (verdict.rank) at(*verdict.rank).failure = verdict.status;
  if (!cancelled_by_.empty() && verdict.status != RunStatus::kInterrupted) {
    verdict.detail = "interrupted by " + cancelled_by_ + "; then: " + to_string(verdict.status) + ": " + verdict.detail;
    verdict.status = RunStatus::kInterrupted;
  } else if (verdict.status == RunStatus::kInterrupted && verdict.detail.empty()) {
    verdict.detail = cancelled_by_.empty() ? "the worker exited early" : "interrupted by " + cancelled_by_;
  }
  const double until = cancelled_by_.empty() || weight == kObserved ? now_s + settle_s : cancel_deadline_s_;
  // When one rank fails, ranks that communicate with it soon fail as well and may report first.
  const bool is_cause = weight > weight_ || (weight == weight_ && weight == kReported && happened_s < failed_s_);
  if (is_cause) {
    settle_until_s_ = weight_ < 0 ? until : std::min(settle_until_s_, until);
    weight_ = weight;
    failed_s_ = happened_s;
    verdict_ = std::move(verdict);
  }
  return decide_if_due(now_s);
}

Actions PassState::decide_if_due(double now_s) {
  if (decided_ || weight_ < 0) return {};
  const bool anyone_open = std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.open(); });
  const bool more_to_come = weight_ == kReported && std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) {
                              return rank.open() && rank.failing;
                            });
  const double until_s = settle_until_s_ + (more_to_come ? limits_.clear_up_s : 0);
  return now_s >= until_s || !anyone_open ? decide(now_s) : Actions{};
}

Actions PassState::decide(double now_s) {
  decided_ = true;
  kill_reported_s_ = now_s + limits_.report_grace_s;
  add_missing_collective();
  Actions actions;
  for (int rank = 0; rank < count(); ++rank) {
    Rank& who = at(rank);
    if (who.ended || who.killed) continue;
    if (who.outcome) {
      actions.emplace_back(SendExit{rank});
    } else {
      who.killed = true;
      actions.emplace_back(Kill{rank});
    }
  }
  return actions;
}

void PassState::add_missing_collective() {
  using enum RunStatus;
  const RunStatus status = verdict_.status;
  const bool is_failure = status == kFailed || status == kCrashed || status == kTimeout || status == kOom;
  if (!is_failure || !verdict_.rank) return;
  const std::string missing =
      missing_collective(*verdict_.rank, count(), [this](int rank) { return worker_status(rank); });
  if (!missing.empty()) verdict_.detail += "; " + missing;
}

Actions PassState::serve_waiting(double now_s) {
  if (decided_ || weight_ >= 0 || !cancelled_by_.empty()) return {};
  std::vector<int> open;
  for (int rank = 0; rank < count(); ++rank)
    if (at(rank).open()) open.push_back(rank);
  if (open.empty() || !std::all_of(open.begin(), open.end(), [&](int rank) { return at(rank).waiting(); })) return {};
  const Rank& first = at(open.front());
  if (open.size() == ranks_.size() && first.barrier && same_wait(&Rank::barrier)) return release_all(now_s);
  if (open.size() == ranks_.size() && first.gather && same_wait(&Rank::gather)) return collect_all(now_s);
  return fail(located(open.front(), {RunStatus::kFailed, "the ranks are deadlocked: " + waits()}), kObserved, 0, now_s);
}

template <typename Wait>
bool PassState::same_wait(std::optional<Wait> Rank::* wait) const {
  const auto& first = ranks_.front().*wait;
  return std::all_of(ranks_.begin(), ranks_.end(), [&](const Rank& rank) {
    return first && rank.*wait && (rank.*wait)->sequence == first->sequence;
  });
}

Actions PassState::release_all(double now_s) {
  Actions actions;
  const bool stop = ranks_.front().barrier->stop;
  for (int rank = 0; rank < count(); ++rank) {
    actions.emplace_back(Release{rank, at(rank).barrier->sequence, stop});
    at(rank).barrier.reset();
    moved(rank, now_s);
  }
  return actions;
}

Actions PassState::collect_all(double now_s) {
  std::vector<std::string> payloads;
  static constexpr std::size_t kMaxSizeBytes = 20;  // of a payload's size within the message
  std::size_t bytes = 0;
  const std::int64_t sequence = ranks_.front().gather->sequence;
  for (auto& rank : ranks_) {
    bytes += rank.gather->payload.size() + kMaxSizeBytes;
    payloads.push_back(std::move(rank.gather->payload));
    rank.gather.reset();
    rank.last_progress_s = now_s;
  }
  if (bytes + 256 > kMaxFrameBytes) {
    return fail(located(0, {RunStatus::kFailed, "the ranks gathered " + format_bytes(static_cast<std::int64_t>(bytes)) +
                                                    " in one call, which exceeds the limit of " +
                                                    format_bytes(kMaxFrameBytes) + " per frame"}),
                kObserved, 0, now_s);
  }
  Actions actions;
  for (int rank = 0; rank < count(); ++rank) actions.emplace_back(Collected{rank, sequence, payloads});
  return actions;
}

std::string PassState::waits() const {
  std::vector<std::string> parts;
  for (int rank = 0; rank < count(); ++rank) {
    const Rank& who = at(rank);
    std::string part = "rank " + std::to_string(rank);
    if (who.barrier) part += " at barrier " + std::to_string(who.barrier->sequence);
    if (who.gather) part += " in gather " + std::to_string(who.gather->sequence);
    if (who.outcome) part += " finished";
    if (who.open() && !who.waiting()) part += " in " + describe_position(rank);
    parts.push_back(part);
  }
  return join(parts, ", ");
}

bool PassState::done() const {
  if (decided_) return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.ended; });
  return weight_ < 0 &&
         std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.outcome.has_value(); });
}

RunStatus PassState::status_of(int rank) const {
  const Rank& who = at(rank);
  if (who.outcome) return who.outcome->status;
  return who.failure.value_or(RunStatus::kInterrupted);  // terminated because of another rank or by the user
}

std::optional<event::CheckOutcome> PassState::verification() const {
  std::optional<event::CheckOutcome> worst;
  for (const auto& rank : ranks_)
    if (rank.outcome) worst = std::max(worst, rank.outcome->verification);
  return worst;
}

Outcome lost_after_report(int rank, const std::string& reason) {
  return {.status = RunStatus::kCrashed,
          .detail = "rank " + std::to_string(rank) + " was lost after reporting its outcome: " + reason,
          .rank = rank,
          .phase = "collect"};
}

}  // namespace kymo::supervisor
