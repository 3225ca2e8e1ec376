// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "measure/outcome.hpp"
#include "measure/protocol.hpp"
#include "measure/status_page.hpp"
#include "supervisor/rank_process.hpp"
#include "supervisor/time_limit.hpp"

namespace kymo::supervisor {

namespace protocol = measure::protocol;
using measure::Outcome;
using measure::RunStatus;

/// Time limits of a pass in seconds, and the memory limit of a worker.
struct PassLimits {
  double timeout_s = 600;              ///< without progress; 0 = no limit
  double max_pass_time_s = 0;          ///< a pass whose first steps take longer is skipped; 0 = no limit
  TimeLimit all_runs;                  ///< a run that is not complete at its end is stopped and skipped
  std::int64_t host_memory_bytes = 0;  ///< resident size of one worker; 0 = no limit
  double settle_s =
      1;  ///< wait after a reported failure: a crash or earlier failure of another rank within this time is the cause
  double clear_up_s = 5;      ///< additional time for a failing rank to report
  double skip_settle_s = 1;   ///< wait after a rank skips, for the other ranks to skip too
  double report_grace_s = 2;  ///< time for a rank that has reported to exit after the pass has failed
  double cancel_grace_s = 5;  ///< time for the current step after the user interrupts
  double abandon_s = 60;      ///< time for a killed process to disappear (a process blocked in a driver may not)
};

/// Actions for the caller. Each applies to one rank.
struct Release {
  int rank;
  std::int64_t sequence;
  bool stop;
};
struct Collected {
  int rank;
  std::int64_t sequence;
  std::vector<std::string> payloads;
};
struct SendCancel {
  int rank;
};
struct SendExit {
  int rank;
};
struct Kill {
  int rank;
};
using Action = std::variant<Release, Collected, SendCancel, SendExit, Kill>;
using Actions = std::vector<Action>;
inline void append(Actions& to, Actions from) { std::move(from.begin(), from.end(), std::back_inserter(to)); }

/// The outcome of a rank that was lost after reporting its own outcome but before its measurements were received.
Outcome lost_after_report(int rank, const std::string& reason);

/// State machine of one pass of one run over all its ranks. Inputs are messages of workers and process ends; outputs
/// are actions. It does not depend on processes or sockets. Times are those of steady_seconds().
class PassState {
 public:
  /// Returns the current position of a rank, as far as it is visible from outside.
  using ReadStatus = std::function<std::optional<measure::WorkerStatus>(int rank)>;

  PassState(measure::Pass pass, int ranks, const PassLimits& limits, double now_s, ReadStatus read_status = nullptr);

  /// The rank takes no part in the pass.
  void leave_out(int rank);
  void connected(int rank, double now_s);
  void progress(int rank, const protocol::Progress& progress, double now_s);
  Actions barrier(int rank, const protocol::Barrier& barrier, double now_s);
  Actions gather(int rank, const protocol::Gather& gather, double now_s);
  Actions outcome(int rank, const Outcome& outcome, double now_s);
  /// The worker violated the protocol; `what` follows "rank N ".
  Actions violation(int rank, const std::string& what, double now_s);
  void disconnected(int rank, double now_s);
  Actions ended(int rank, const WorkerEnd& end, double now_s);
  Actions resident(int rank, std::int64_t bytes, std::optional<std::int64_t> available_bytes, double now_s);
  /// The user interrupts: the current steps may finish.
  Actions cancel(const std::string& signal_name, double now_s);
  /// The user interrupts again: terminate all ranks immediately.
  Actions cancel_at_once(double now_s);
  /// Checks the deadlines. Call this several times per second.
  Actions tick(double now_s);

  /// True if all ranks reported ok, if the only rank skipped the run, or if the pass failed and every worker has ended.
  bool done() const;
  /// The outcome of the pass: kOk, or the cause of its failure.
  const Outcome& verdict() const { return verdict_; }
  bool reported(int rank) const { return at(rank).outcome.has_value(); }
  RunStatus status_of(int rank) const;
  /// The worst result of all ranks; empty if no rank verified anything.
  std::optional<event::CheckOutcome> verification() const;
  const protocol::Progress& progress_of(int rank) const { return at(rank).at; }
  /// Whether the rank has begun a step, so that there is something that its rank file contains. False in the pass
  /// verify.
  bool began_steps(int rank) const;
  std::int64_t peak_resident_bytes(int rank) const { return at(rank).peak_bytes; }

 private:
  /// Priority of failure causes: until a failed pass is decided, a cause of higher priority replaces one of lower
  /// priority.
  enum Weight { kNone = -1, kInterruption, kSkip, kReported, kObserved };
  struct Rank {
    bool connected = false;
    bool failing = false;  ///< it has announced a failure and will report it
    bool ended = false;
    bool killed = false;
    double last_progress_s = 0;
    std::optional<double> disconnected_s;
    protocol::Progress at{"start", -1, 0};
    std::optional<protocol::Barrier> barrier;
    std::optional<protocol::Gather> gather;
    std::optional<Outcome> outcome;
    std::optional<RunStatus> failure;  ///< status assigned by the supervisor
    std::int64_t peak_bytes = 0;
    bool open() const { return !outcome && !ended; }
    bool waiting() const { return barrier || gather; }
  };

  Rank& at(int rank) { return ranks_.at(static_cast<std::size_t>(rank)); }
  const Rank& at(int rank) const { return ranks_.at(static_cast<std::size_t>(rank)); }
  int count() const { return static_cast<int>(ranks_.size()); }
  /// Adds the rank, and its current position unless the outcome contains one.
  Outcome located(int rank, Outcome outcome) const;
  std::string describe_position(int rank) const;
  Outcome crash_of(int rank, const WorkerEnd& end) const;
  /// The rank without an outcome whose connection was closed first; otherwise `rank`.
  int first_to_disconnect(int rank) const;
  std::optional<measure::WorkerStatus> worker_status(int rank) const {
    return read_status_ ? read_status_(rank) : std::nullopt;
  }
  /// `failed_s` is the time of the failure if it lies in the past.
  Actions fail(Outcome verdict, Weight weight, double settle_s, double now_s,
               std::optional<double> failed_s = std::nullopt);
  /// The time without progress after which the pass ends because of the rank; 0 = no limit. Loading, creating and
  /// writing do not count as steps.
  double idle_limit_s(int rank) const;
  bool is_late(int rank, double share, double now_s) const;
  /// The outcome of a pass that makes no progress because of a rank.
  Outcome stalled(int cause) const;
  /// Skips the run if the time of all runs is over.
  Actions stop_if_out_of_time(double now_s);
  /// Among the ranks that make no progress, the one that the others wait for.
  int held_up_by(int late, double now_s) const;
  Actions decide_if_due(double now_s);
  Actions decide(double now_s);
  /// Adds to the verdict which collective call its rank did not join.
  void add_missing_collective();
  Actions serve_waiting(double now_s);
  template <typename Wait>
  bool same_wait(std::optional<Wait> Rank::* wait) const;
  Actions release_all(double now_s);
  Actions collect_all(double now_s);
  std::string waits() const;
  void moved(int rank, double now_s);

  measure::Pass pass_;
  PassLimits limits_;
  ReadStatus read_status_;
  double failed_s_ = 0;  // time of the failure in verdict_
  std::vector<Rank> ranks_;
  Outcome verdict_;
  Weight weight_ = kNone;  ///< of the verdict: while the pass settles, the cause with the highest priority is kept
  double settle_until_s_ = 0;
  bool decided_ = false;
  double kill_reported_s_ = 0;
  std::string cancelled_by_;
  double cancelled_s_ = 0;
  double cancel_deadline_s_ = 0;
};

}  // namespace kymo::supervisor
