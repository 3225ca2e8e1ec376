// SPDX-License-Identifier: Apache-2.0
// When a pass has waited too long, and for which rank.
#include <algorithm>

#include "base/text.hpp"
#include "supervisor/pass_state.hpp"

namespace kymo::supervisor {
namespace {

std::string seconds(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

}  // namespace

double PassState::idle_limit_s(int rank) const {
  // After two steps, the worker judges itself whether the pass can end in time.
  constexpr std::int64_t kStepsToJudge = 2;
  const std::string& stage = at(rank).at.stage;
  const bool is_step = stage == "warmup" || stage == "step" || stage == "verify";
  if (!is_step || limits_.max_pass_time_s <= 0 || located(rank, {}).step >= kStepsToJudge) return limits_.timeout_s;
  return limits_.timeout_s > 0 ? std::min(limits_.timeout_s, limits_.max_pass_time_s) : limits_.max_pass_time_s;
}

bool PassState::is_late(int rank, double share, double now_s) const {
  const Rank& who = at(rank);
  const double limit_s = idle_limit_s(rank);
  return limit_s > 0 && who.open() && !who.waiting() && now_s - who.last_progress_s > share * limit_s;
}

Outcome PassState::stalled(int cause) const {
  const double limit_s = idle_limit_s(cause);
  Outcome outcome = located(cause, {RunStatus::kTimeout, "no progress for " + seconds(limit_s) + ": rank " +
                                                             std::to_string(cause) + ", " + describe_position(cause)});
  if (limits_.timeout_s == limit_s) return outcome;
  outcome.status = RunStatus::kSkipped;
  outcome.detail =
      "too slow: " + outcome.detail + "; a pass may take " + seconds(limits_.max_pass_time_s) + " (--max-pass-time)";
  return outcome;
}

Actions PassState::stop_if_out_of_time(double now_s) {
  const auto open = std::find_if(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.open(); });
  // A pass that settles or is cancelled ends soon, with a cause of its own.
  if (limits_.all_runs.left_s(now_s) > 0 || open == ranks_.end() || weight_ >= 0 || !cancelled_by_.empty()) return {};
  const auto rank = static_cast<int>(open - ranks_.begin());
  const std::string where = "rank " + std::to_string(rank) + ", " + describe_position(rank);
  return fail(located(rank, {RunStatus::kSkipped, limits_.all_runs.no_time_left("the run was stopped: " + where)}),
              kObserved, 0, now_s);
}

int PassState::held_up_by(int late, double now_s) const {
  // A rank in a collective waits for the ranks that have issued fewer collectives. Collectives that returned without
  // waiting leave the counts equal.
  constexpr double kAsGoodAsLate = 0.5;
  int cause = late;
  auto least = worker_status(late);
  for (int rank = 0; rank < count(); ++rank) {
    const auto seen = worker_status(rank);
    if (rank == cause || !seen || !least || !is_late(rank, kAsGoodAsLate, now_s)) continue;
    if (seen->collectives_begun < least->collectives_begun) {
      cause = rank;
      least = seen;
    }
  }
  return cause;
}

Actions PassState::tick(double now_s) {
  Actions actions;
  if (decided_) {
    for (int rank = 0; rank < count() && now_s >= kill_reported_s_; ++rank) {
      // the process cannot be killed; stop waiting for it
      if (now_s >= kill_reported_s_ + limits_.abandon_s) at(rank).ended = true;
      if (at(rank).ended || at(rank).killed) continue;
      at(rank).killed = true;
      actions.emplace_back(Kill{rank});
    }
    return actions;
  }
  if (!cancelled_by_.empty() && now_s >= cancel_deadline_s_ && !done()) {
    if (weight_ < 0) {
      verdict_ = {RunStatus::kInterrupted, "interrupted by " + cancelled_by_ + "; still running after " +
                                               seconds(limits_.cancel_grace_s) + ": " + waits()};
    }
    return decide(now_s);
  }
  for (int rank = 0; rank < count() && !decided_; ++rank) {
    const Rank& who = at(rank);
    if (!who.open()) continue;
    if (who.disconnected_s && now_s - *who.disconnected_s > limits_.report_grace_s) {
      append(actions, violation(rank, "closed its connection before reporting an outcome", now_s));
    } else if (is_late(rank, 1, now_s)) {
      append(actions, fail(stalled(held_up_by(rank, now_s)), kObserved, 0, now_s));
    }
  }
  append(actions, stop_if_out_of_time(now_s));
  append(actions, decide_if_due(now_s));
  return actions;
}

}  // namespace kymo::supervisor
