// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/process.hpp"
#include "event/records.hpp"
#include "measure/protocol.hpp"
#include "measure/worker_place.hpp"

namespace kymo::supervisor {

namespace protocol = measure::protocol;

/// How long a pass waits for what, in seconds, and what a worker may use.
struct PassLimits {
  double timeout_s = 600;              ///< without progress; 0 = no bound
  std::int64_t host_memory_bytes = 0;  ///< resident size of one worker; 0 = no bound
  double settle_s =
      1;  ///< after a rank reports a failure: a crash or an earlier failure of another within it is its cause
  double clear_up_s = 5;      ///< more than that for a rank that is failing to report
  double skip_settle_s = 1;   ///< after a rank skips: time for the others to say so too
  double report_grace_s = 2;  ///< for a rank that has reported to end by itself once the pass has failed
  double cancel_grace_s = 5;  ///< for the step that is under way when the user interrupts
  double abandon_s = 60;      ///< for a killed process to vanish (one that hangs in a driver does not)
};

/// What the caller is to do. Each concerns one rank.
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

/// How a worker's process ended, with what the system knew about it.
struct WorkerEnd {
  ProcessEnd end;
  bool kernel_out_of_memory = false;  ///< the kernel ended a process for lack of memory meanwhile
  std::string last_line;              ///< what it said last on stderr
  std::string lost = "";              ///< not empty: how it ended cannot be known, for this reason
};

/// Why a pass is not ok; `status` is "ok" if it is.
struct Verdict {
  std::string status = "ok";
  std::string detail;
  std::optional<int> rank;
  std::string phase;  ///< phase, else stage
  std::optional<std::int64_t> step;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::optional<event::OutOfMemory> out_of_memory;
};

/// Of a rank that had reported and was lost before what it measured was here.
Verdict lost_after_report(int rank, const std::string& reason);

/// One pass of one run over all its ranks as a state machine: what workers say and how they end goes in, what to do
/// comes out. Knows neither processes nor sockets. Times are those of steady_seconds().
class PassState {
 public:
  /// Where a rank stands at this moment, as far as it can be seen from outside.
  using Look = std::function<std::optional<measure::Standing>(int rank)>;

  PassState(measure::Pass pass, int ranks, const PassLimits& limits, double now_s, Look look = nullptr);

  void connected(int rank, double now_s);
  void progress(int rank, const protocol::Progress& progress, double now_s);
  Actions barrier(int rank, const protocol::Barrier& barrier, double now_s);
  Actions gather(int rank, const protocol::Gather& gather, double now_s);
  Actions outcome(int rank, const protocol::Outcome& outcome, double now_s);
  /// The worker broke the protocol; `what` follows "rank N ".
  Actions violation(int rank, const std::string& what, double now_s);
  void disconnected(int rank, double now_s);
  Actions ended(int rank, const WorkerEnd& end, double now_s);
  Actions resident(int rank, std::int64_t bytes, std::optional<std::int64_t> available_bytes, double now_s);
  /// The user interrupts: the steps under way may end.
  Actions cancel(const std::string& signal_name, double now_s);
  /// The user interrupts again: all end at once.
  Actions cancel_at_once(double now_s);
  /// To be called several times a second: deadlines.
  Actions tick(double now_s);

  /// All ranks reported ok, or the pass failed and every worker has ended.
  bool done() const;
  const Verdict& verdict() const { return verdict_; }
  bool reported(int rank) const { return at(rank).outcome.has_value(); }
  /// How this rank ended, in the words of a run's status.
  std::string status_of(int rank) const;
  /// failed before unavailable before passed; empty if no rank said anything.
  std::string verification() const;
  const protocol::Progress& progress_of(int rank) const { return at(rank).at; }
  std::int64_t peak_resident_bytes(int rank) const { return at(rank).peak_bytes; }

 private:
  struct Rank {
    bool connected = false;
    bool failing = false;  ///< it has said so, and will report
    bool ended = false;
    bool killed = false;
    double last_progress_s = 0;
    std::optional<double> disconnected_s;
    protocol::Progress at{"start", -1, 0};
    std::optional<protocol::Barrier> barrier;
    std::optional<protocol::Gather> gather;
    std::optional<protocol::Outcome> outcome;
    std::string failure;  ///< status that the supervisor gave it
    std::int64_t peak_bytes = 0;
    bool open() const { return !outcome && !ended; }
    bool waiting() const { return barrier || gather; }
  };

  Rank& at(int rank) { return ranks_.at(static_cast<std::size_t>(rank)); }
  const Rank& at(int rank) const { return ranks_.at(static_cast<std::size_t>(rank)); }
  int count() const { return static_cast<int>(ranks_.size()); }
  Verdict verdict_at(int rank, const std::string& status, const std::string& detail) const;
  std::string place(int rank) const;
  Verdict crash_of(int rank, const WorkerEnd& end) const;
  std::optional<measure::Standing> standing(int rank) const { return look_ ? look_(rank) : std::nullopt; }
  /// `failed_s` is when it happened, where that was before now.
  Actions fail(Verdict verdict, int weight, double settle_s, double now_s,
               std::optional<double> failed_s = std::nullopt);
  bool is_late(int rank, double share, double now_s) const;
  /// Of the ranks that make no progress the one that the others wait for.
  int held_up_by(int late, double now_s) const;
  Actions decide_if_due(double now_s);
  Actions decide(double now_s);
  Actions serve_waiting(double now_s);
  template <typename Wait>
  bool same_wait(std::optional<Wait> Rank::* wait) const;
  Actions release_all(double now_s);
  Actions collect_all(double now_s);
  std::string waits() const;
  void moved(int rank, double now_s);

  measure::Pass pass_;
  PassLimits limits_;
  Look look_;
  double failed_s_ = 0;  // when what verdict_ tells happened
  std::vector<Rank> ranks_;
  Verdict verdict_;
  int weight_ = -1;  ///< of the verdict: the heavier cause wins while the pass settles
  double settle_until_s_ = 0;
  bool decided_ = false;
  double kill_reported_s_ = 0;
  std::string cancelled_by_;
  double cancelled_s_ = 0;
  double cancel_deadline_s_ = 0;
};

}  // namespace kymo::supervisor
