// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "base/enum_names.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "event/records.hpp"
#include "measure/plan.hpp"

namespace kymo::measure {

/// Status of a completed pass or run.
enum class RunStatus { kOk, kOom, kFailed, kCrashed, kTimeout, kInterrupted, kSkipped };
inline constexpr auto kRunStatusNames = enum_names<RunStatus>("run status", {{RunStatus::kOk, "ok"},
                                                                             {RunStatus::kOom, "oom"},
                                                                             {RunStatus::kFailed, "failed"},
                                                                             {RunStatus::kCrashed, "crashed"},
                                                                             {RunStatus::kTimeout, "timeout"},
                                                                             {RunStatus::kInterrupted, "interrupted"},
                                                                             {RunStatus::kSkipped, "skipped"}});
inline const char* to_string(RunStatus status) { return kRunStatusNames.name(status); }
inline void to_json(Json& json, RunStatus status) { json = to_string(status); }
inline void from_json(const Json& json, RunStatus& status) {
  const auto name = json.get<std::string>();
  const auto found = kRunStatusNames.find(name);
  if (!found) throw Error("reported the unknown status " + quote(name));
  status = *found;
}

/// Result of a pass or run. A worker reports what it knows of its pass; the supervisor adds the rest and stores it.
struct Outcome {
  RunStatus status = RunStatus::kOk;
  std::string detail = {};  ///< one line
  std::optional<event::CheckOutcome> verification =
      {};  ///< the worst result of all checks; empty without a verify pass

  // If the status is not kOk: where and how the pass ended.
  std::optional<int> rank = {};
  std::optional<Pass> pass = {};
  std::string stage = {};  ///< as in protocol::Progress
  std::string phase = {};  ///< from the supervisor: the stage if there is no phase
  std::int64_t step = -1;  ///< -1 outside of steps
  std::optional<int> exit_code = {};
  std::optional<int> signal = {};
  std::optional<event::OutOfMemory> out_of_memory = {};
  /// Time of the failure, used to find the first rank that failed: on the clock of the worker's host, and in the
  /// protocol on the supervisor's clock. -1 without a failure or if unknown, in the protocol also with a single rank.
  std::int64_t failed_ns = -1;

  // Message of a worker: the part that it knows.
  static constexpr const char* kType = "outcome";
  static auto fields(auto& m) {
    return std::forward_as_tuple("status", m.status, "detail", m.detail, "stage", m.stage, "phase", m.phase, "step",
                                 m.step, "verification", m.verification, "failed_ns", m.failed_ns);
  }
  /// A worker cannot report its own crash or time-out. Throws Error.
  void check() const {
    if (status == RunStatus::kCrashed || status == RunStatus::kTimeout)
      throw Error("reported the unknown status " + quote(to_string(status)));
  }
};

}  // namespace kymo::measure
