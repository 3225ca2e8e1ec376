// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "measure/change_point.hpp"
#include "store/results.hpp"

/// `kymo history`: the times of cases over the commits of the project that they measure.
namespace kymo::terminal {

struct HistoryRequest {
  std::string filter;              ///< regular expression that a case has to match; empty: all cases
  std::vector<std::string> known;  ///< hashes in the order of the repository, as for commit_order()
  double margin = measure::kDefaultMargin;
  double level = measure::kChangeLevel;  ///< of all series together
};

/// Returns an object with `series`, one for each case, project and machine, and with the runs that belong to none:
/// `without_commit`, `dirty` (tracked files had been changed) and `untimed` (failed, or without a step time), and
/// `busy`, those whose times were not used because the machine was busy, each an array of objects with `title` and
/// `runs`. A series has `title`, `project`, `machine`, `statistic` (mean or median of a step, or the fastest one if the
/// machine was busy in most runs), `commits` in their order, each with `hash`, `short_hash`, `committed_at`, `branch`,
/// `run_ids`, `times_ns` (one value per run; mean and median over the steps during which the machine was not busy),
/// their median `time_ns`, `min_ns` and `max_ns` (null without runs), and `busy_run_ids`, which are not compared;
/// `busy_runs`, the number of runs that have too few steps during which the machine was not busy; `enough_runs`,
/// whether the runs that are compared suffice for a test, without which there are no changes; and `changes`, each with
/// `commit` (index of the first commit with the new time), `begin` and `end` (of the commits compared), the members of
/// put_comparison(), and `before_ns` and `after_ns`. The level is divided by the number of series (Bonferroni). Throws
/// UsageError for an invalid expression.
Json history_of(const store::ResultsDatabase& database, const HistoryRequest& request);

/// The distinct hashes in the database, for asking a repository about their order.
std::vector<std::string> stored_hashes(const store::ResultsDatabase& database);

/// What to know about a history besides its tables: runs that belong to no series, and series with too few commits.
std::vector<std::string> history_notes(const Json& history);

}  // namespace kymo::terminal
