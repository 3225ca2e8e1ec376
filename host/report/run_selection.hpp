// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "store/results.hpp"

/// The runs that the queries of a report see.
namespace kymo::report {

/// By default, the runs of the newest invocation of each plan key.
struct Selection {
  std::optional<std::string> label;
  std::optional<std::int64_t> invocation_id;
  std::optional<std::string> suite;
  bool every_run = false;                 ///< whatever runs there are of their plans
  std::optional<std::int64_t> most = {};  ///< number of runs: of each case of a suite and workload, the newest
};

/// A case that occurs in two sets of runs, and the test of its times. Values are empty if they are unknown.
struct ComparedCase {
  std::string title;
  std::vector<std::int64_t> before, after;  ///< ids of the runs that were compared
  std::optional<double> before_ms, after_ms, ratio, ratio_low, ratio_high;
  std::string verdict;
  std::string statistic;  ///< what the times are, mean or median
  /// The times by the other statistic, if it differs, and which steps make it differ.
  std::optional<double> before_other_ms, after_other_ms;
  std::string before_unlike_steps, after_unlike_steps;
};
struct ComparedRuns {
  std::string before, after;  ///< names of the two sets
  std::vector<ComparedCase> cases;
};

/// Temporary tables and views of a database that restrict its queries, until other runs are selected. Functions throw
/// Error.
class RunSelection {
 public:
  explicit RunSelection(store::ResultsDatabase& database) : database_(database) {}

  /// Fills the temporary table selected_run(run_id, title, title_in_case), which report queries join, and returns the
  /// number of runs that could be selected, however many `most` is. The titles are those of the view run_title,
  /// computed once for all queries. Fills selected_unstarted_run(position, suite_case, workload, title_in_case, warmup,
  /// reason) with the rows of the view unstarted_run that pass the same filter.
  std::int64_t select(const Selection& selection);
  /// Does the same with the runs of a comparison, and fills the temporary tables compared_case and compared_run, which
  /// the queries of comparing reports join (docs/write-a-report.md).
  std::int64_t select_compared(const ComparedRuns& runs);

  /// Does the same with the runs of the series of a history, as terminal::history_of() returns it, and fills the
  /// temporary tables history_series, history_commit and history_change (docs/history.md).
  std::int64_t select_history(const Json& history);

  /// Restricts all later queries to the runs selected before and those that views compare them with: the other runs of
  /// their invocations, for each plan the newest run and the newest with status ok, and the runs of the family `peak`.
  /// The time of a query then depends on these runs, not on the number of runs in the database. `unselected` also hides
  /// runs of the same invocations and of plans without a selected run.
  void hide_history(bool unselected = false);
  /// Evaluates views with a few rows per run once for all later queries, if several of these name them.
  void evaluate_once(const std::vector<std::string>& queries);
  /// Undoes hide_history() and evaluate_once(), as selecting runs does.
  void show_history();

 private:
  store::ResultsDatabase& database_;
};

}  // namespace kymo::report
