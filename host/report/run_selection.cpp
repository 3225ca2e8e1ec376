// SPDX-License-Identifier: Apache-2.0
#include "report/run_selection.hpp"

#include <optional>

#include "store/temporary.hpp"

namespace kymo::report {
namespace {

using store::TemporaryChanges;

/// Selects the runs that pass the filter and that the view current_run would show if there were no other runs.
constexpr const char* kSelectRuns = R"(
  WITH _candidate AS (
    SELECT p.run_id, p.start_order, max(p.start_order) OVER (PARTITION BY p.plan_key) AS newest_of_plan,
           max(p.start_order) OVER (PARTITION BY p.settings_key) AS newest_of_settings
    FROM run_order p
    WHERE (?1 IS NULL OR p.label = ?1) AND (?2 IS NULL OR p.invocation_id = ?2) AND (?3 IS NULL OR p.suite = ?3))
  INSERT INTO temp.selected_run (run_id)
  SELECT c.run_id FROM _candidate c
  WHERE ?4 OR c.start_order = c.newest_of_plan AND c.start_order = c.newest_of_settings
  ORDER BY c.run_id)";

/// Selects the planned runs that pass the filter and were not started.
constexpr const char* kSelectUnstarted = R"(
  INSERT INTO temp.selected_unstarted_run (suite_case, workload, title_in_case, warmup, reason)
  SELECT u.suite_case, u.workload, u.title_in_case, u.warmup, u.reason FROM unstarted_run u
  WHERE (?1 IS NULL OR u.label = ?1) AND (?2 IS NULL OR u.invocation_id = ?2) AND (?3 IS NULL OR u.suite = ?3)
  ORDER BY u.invocation_id, u.sequence)";

constexpr const char* kLimitRuns = R"(
  DELETE FROM temp.selected_run WHERE run_id NOT IN (
    SELECT run_id FROM (
      SELECT s.run_id, p.start_order,
             row_number() OVER (PARTITION BY r.suite_case, r.workload
                                ORDER BY p.start_order DESC, s.run_id DESC) AS position
      FROM temp.selected_run s JOIN run r ON r.run_id = s.run_id JOIN run_order p ON p.run_id = s.run_id)
    ORDER BY position, start_order DESC, run_id DESC LIMIT ?1))";

constexpr const char* kAddTitles = R"(
  UPDATE temp.selected_run SET title = t.title, title_in_case = t.title_in_case FROM run_title t
  WHERE t.run_id = selected_run.run_id)";

/// Titles of a workload's runs omit the case if the other settings distinguish them.
constexpr const char* kOmitCases = R"(
  WITH _short AS (
    SELECT s.run_id, r.workload,
           CASE WHEN s.title LIKE 'case=%, %' THEN substr(s.title, instr(s.title, ', ') + 2) END AS title
    FROM temp.selected_run s JOIN run r ON r.run_id = s.run_id),
  _distinct AS (SELECT workload FROM _short GROUP BY workload HAVING count(DISTINCT title) = count(*))
  UPDATE temp.selected_run SET title = c.title
  FROM (SELECT x.run_id, x.title FROM _short x JOIN _distinct d ON d.workload = x.workload) c
  WHERE c.run_id = selected_run.run_id)";

void clear_selection(TemporaryChanges& changes) {
  changes.run(
      "CREATE TEMP TABLE IF NOT EXISTS selected_run (run_id INTEGER PRIMARY KEY, title TEXT, title_in_case TEXT)");
  changes.run("DELETE FROM temp.selected_run");
  changes.run(
      "CREATE TEMP TABLE IF NOT EXISTS selected_unstarted_run (position INTEGER PRIMARY KEY, suite_case TEXT, "
      "workload TEXT, title_in_case TEXT, warmup INTEGER, reason TEXT)");
  changes.run("DELETE FROM temp.selected_unstarted_run");
}

void complete_selection(TemporaryChanges& changes) {
  // Tells the query planner that there are few runs, so that it starts with them instead of scanning every sample of
  // the database.
  changes.run("ANALYZE temp.selected_run");
  changes.run(kAddTitles);
  changes.run(kOmitCases);
}

void add_runs(TemporaryChanges& changes, const std::vector<std::int64_t>& runs, bool is_after, std::int64_t case_id,
              const std::string& side) {
  for (const std::int64_t run : runs)
    changes.run("INSERT INTO temp.compared_run VALUES (?1, ?2, ?3, ?4)", {run, is_after, case_id, side});
}

}  // namespace

std::int64_t RunSelection::select(const Selection& selection) {
  show_history();
  TemporaryChanges changes(database_);
  clear_selection(changes);
  const std::int64_t found = changes.run(
      kSelectRuns, {selection.label, selection.invocation_id, selection.suite, std::int64_t{selection.every_run}});
  changes.run(kSelectUnstarted, {selection.label, selection.invocation_id, selection.suite});
  if (selection.most && found > *selection.most) changes.run(kLimitRuns, {selection.most});
  complete_selection(changes);
  return found;
}

std::int64_t RunSelection::select_compared(const ComparedRuns& runs) {
  show_history();
  TemporaryChanges changes(database_);
  clear_selection(changes);
  for (const char* sql : {"DROP TABLE IF EXISTS temp.compared_case", "DROP TABLE IF EXISTS temp.compared_run", R"(
         CREATE TEMP TABLE compared_case (
           case_id INTEGER PRIMARY KEY, title TEXT, before TEXT, after TEXT, before_runs INTEGER, after_runs INTEGER,
           before_ms REAL, after_ms REAL, ratio REAL, ratio_low REAL, ratio_high REAL, verdict TEXT, statistic TEXT,
           before_other_ms REAL, after_other_ms REAL, before_unlike_steps TEXT, after_unlike_steps TEXT))",
                          R"(
         CREATE TEMP TABLE compared_run (
           run_id INTEGER, is_after INTEGER, case_id INTEGER, side TEXT, PRIMARY KEY (run_id, is_after)))"})
    changes.run(sql);
  std::int64_t id = 0;
  for (const ComparedCase& each : runs.cases) {
    changes.run(
        "INSERT INTO temp.compared_case VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        {++id, each.title, runs.before, runs.after, std::ssize(each.before), std::ssize(each.after), each.before_ms,
         each.after_ms, each.ratio, each.ratio_low, each.ratio_high, each.verdict, each.statistic, each.before_other_ms,
         each.after_other_ms, each.before_unlike_steps, each.after_unlike_steps});
    add_runs(changes, each.before, false, id, runs.before);
    add_runs(changes, each.after, true, id, runs.after);
  }
  const std::int64_t selected = changes.run(
      "INSERT INTO temp.selected_run (run_id) SELECT run_id FROM run "
      "WHERE run_id IN (SELECT run_id FROM temp.compared_run)");
  changes.run("ANALYZE temp.compared_run");
  complete_selection(changes);
  return selected;
}

std::int64_t RunSelection::select_history(const Json& history) {
  show_history();
  TemporaryChanges changes(database_);
  clear_selection(changes);
  for (const char* table : {"history_series", "history_commit", "history_change"})
    changes.run(std::string("DROP TABLE IF EXISTS temp.") + table);
  changes.run(
      "CREATE TEMP TABLE history_series (series_id INTEGER PRIMARY KEY, title TEXT, project TEXT, machine TEXT, "
      "statistic TEXT, busy_runs INTEGER, enough_runs INTEGER)");
  changes.run(
      "CREATE TEMP TABLE history_commit (series_id INTEGER, position INTEGER, hash TEXT, short_hash TEXT, "
      "committed_at TEXT, branch TEXT, runs INTEGER, busy_runs INTEGER, time_ms REAL, min_ms REAL, max_ms REAL, "
      "PRIMARY KEY (series_id, position))");
  changes.run(
      "CREATE TEMP TABLE history_change (series_id INTEGER, position INTEGER, before_ms REAL, after_ms REAL, "
      "ratio REAL, ratio_low REAL, ratio_high REAL, verdict TEXT, PRIMARY KEY (series_id, position))");
  const std::optional<std::string> series = dump_json(history.at("series"));
  changes.run(
      "INSERT INTO temp.history_series SELECT key + 1, value ->> 'title', value ->> 'project', value ->> 'machine', "
      "value ->> 'statistic', value ->> 'busy_runs', value ->> 'enough_runs' FROM json_each(?1)",
      {series});
  changes.run(
      "INSERT INTO temp.history_commit SELECT s.key + 1, c.key + 1, c.value ->> 'hash', c.value ->> 'short_hash', "
      "c.value ->> 'committed_at', c.value ->> 'branch', json_array_length(c.value -> 'run_ids'), "
      "json_array_length(c.value -> 'busy_run_ids'), "
      "(c.value ->> 'time_ns') / 1e6, (c.value ->> 'min_ns') / 1e6, (c.value ->> 'max_ns') / 1e6 "
      "FROM json_each(?1) s, json_each(s.value -> 'commits') c",
      {series});
  changes.run(
      "INSERT INTO temp.history_change SELECT s.key + 1, (c.value ->> 'commit') + 1, (c.value ->> 'before_ns') / 1e6, "
      "(c.value ->> 'after_ns') / 1e6, c.value ->> 'ratio', c.value ->> 'ratio_low', c.value ->> 'ratio_high', "
      "c.value ->> 'verdict' FROM json_each(?1) s, json_each(s.value -> 'changes') c",
      {series});
  const std::int64_t selected = changes.run(
      "INSERT INTO temp.selected_run (run_id) SELECT DISTINCT r.value FROM json_each(?1) s, "
      "json_each(s.value -> 'commits') c, (SELECT 'run_ids' AS ids UNION ALL SELECT 'busy_run_ids') k, "
      "json_each(c.value -> k.ids) r",
      {series});
  complete_selection(changes);
  return selected;
}

}  // namespace kymo::report
