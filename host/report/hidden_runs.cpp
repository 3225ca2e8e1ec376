// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "report/run_selection.hpp"
#include "store/temporary.hpp"

namespace kymo::report {
namespace {

using store::ResultsDatabase;
using store::TemporaryChanges;

/// The selected runs and those that views compare them with: runs of the same invocations, for each plan the newest
/// run and the newest with status ok, and the runs of family `peak`, of which the fastest counts.
constexpr const char* kFindVisibleRuns = R"(
  WITH _ordered AS (
    SELECT r.run_id, r.invocation_id, r.family, p.start_order, p.plan_key,
           max(p.start_order) OVER (PARTITION BY p.plan_key) AS newest,
           max(CASE r.status WHEN 'ok' THEN p.start_order END) OVER (PARTITION BY p.plan_key) AS newest_ok
    FROM run_order p JOIN run r ON r.run_id = p.run_id)
  INSERT INTO temp.visible_run (run_id)
  SELECT run_id FROM _ordered
  WHERE family = 'peak' OR run_id IN (SELECT run_id FROM temp.selected_run)
        OR start_order IN (newest, newest_ok)
           AND (NOT ?1 OR plan_key IN (SELECT r.plan_key FROM temp.selected_run s JOIN run r ON r.run_id = s.run_id))
        OR NOT ?1
           AND invocation_id IN (SELECT r.invocation_id FROM temp.selected_run s JOIN run r ON r.run_id = s.run_id))";

/// Views with few rows per run that take long for many runs; a view is after those that it reads.
constexpr std::array kSummaryViews{
    "run_parameter",        "run_machine",     "run_status",        "run_series",
    "phase_time",           "transformer_run", "memory_peak",       "memory_by_category",
    "attention_run",        "attention_time",  "attention_latency", "attention_grid",
    "attention_breakdown",  "rank_clock",      "_rank_spread",      "collective_summary",
    "collective_straggler", "ddp_run",         "ddp_summary",       "all_reduce_bandwidth",
    "all_reduce_fit",       "sharding_memory", "sharding_time",     "first_step_content",
    "consistency_check",
};

/// Larger tables are not copied: they would need too much memory.
constexpr std::int64_t kCopiedRows = 200'000;

struct Object {
  std::string name;  ///< quoted
  std::string sql;   ///< as SQLite stores it: CREATE TABLE NAME … or CREATE VIEW NAME …
};

std::vector<Object> objects_from(const ResultsDatabase& database, const std::string& condition) {
  std::vector<Object> objects;
  for (const auto& row :
       database.query("SELECT printf('\"%w\"', m.name), m.sql FROM main.sqlite_master m WHERE " + condition).rows)
    objects.push_back({row[0].text, row[1].text});
  return objects;
}

/// Creates a temporary object like one of the file.
void create_temporary(TemporaryChanges& changes, const std::string& sql) {
  const std::string kCreate = "CREATE ";
  changes.run(kCreate + "TEMP " + sql.substr(std::min(sql.size(), kCreate.size())));
}

/// Shows only the rows of visible runs under the name of a table. Returns the statement that shows the others again.
std::string hide_rows(TemporaryChanges& changes, const Object& table) {
  const std::string rows = " FROM temp.visible_run v CROSS JOIN main." + table.name + " t ON t.run_id = v.run_id";
  const std::int64_t count =
      changes.integer("SELECT count(*) FROM (SELECT 1" + rows + " LIMIT " + std::to_string(kCopiedRows + 1) + ")");
  if (count <= kCopiedRows) {
    create_temporary(changes, table.sql);
    changes.run("INSERT INTO temp." + table.name + " SELECT t.*" + rows);
    return "DROP TABLE temp." + table.name;
  }
  changes.run("CREATE TEMP VIEW " + table.name + " AS SELECT * FROM main." + table.name +
              " WHERE run_id IN (SELECT run_id FROM temp.visible_run)");
  return "DROP VIEW temp." + table.name;
}

std::vector<Object> views_without_copy(const ResultsDatabase& database) {
  return objects_from(database,
                      "m.type = 'view' AND m.name NOT IN (SELECT name FROM temp.sqlite_master WHERE type = 'view')");
}

/// Creates temporary copies of the views: those of the file read its own tables, the copies read temporary tables and
/// views of the same names.
void copy_views(TemporaryChanges& changes, const std::vector<Object>& views) {
  for (const Object& view : views) {
    create_temporary(changes, view.sql);
    changes.undo().push_back("DROP VIEW temp." + view.name);
  }
}

/// Replaces a temporary view by its rows. Returns the statement that drops them.
std::string replace_by_rows(TemporaryChanges& changes, const std::string& view) {
  const std::string rows = "\"rows of " + view + "\"";
  changes.run("CREATE TEMP TABLE " + rows + " AS SELECT * FROM temp." + view);
  changes.run("DROP VIEW temp." + view);
  changes.run("CREATE TEMP VIEW " + view + " AS SELECT * FROM " + rows);
  if (changes.integer("SELECT count(*) FROM pragma_table_info('rows of " + view + "', 'temp') WHERE name = 'run_id'") >
      0)
    changes.run("CREATE INDEX temp.\"runs of " + view + "\" ON " + rows + " (run_id)");
  return "DROP TABLE temp." + rows;
}

/// The words of a statement that could be names, in lower case.
std::set<std::string> words_in(const std::string& sql) {
  constexpr const char* kOfWords = "abcdefghijklmnopqrstuvwxyz0123456789_";
  std::string text = sql;
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::set<std::string> words;
  for (std::size_t begin = text.find_first_of(kOfWords); begin != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_not_of(kOfWords, begin), text.size());
    words.insert(text.substr(begin, end - begin));
    begin = text.find_first_of(kOfWords, end);
  }
  return words;
}

/// The number of queries that read each view, directly or in other views.
std::map<std::string, int> uses_of_views(const ResultsDatabase& database, const std::vector<std::string>& queries) {
  std::map<std::string, std::set<std::string>> views;
  for (const Object& view : objects_from(database, "m.type = 'view'"))
    views[view.name.substr(1, view.name.size() - 2)] = words_in(view.sql);
  std::map<std::string, int> uses;
  for (const std::string& query : queries) {
    std::set<std::string> read;
    std::set<std::string> words = words_in(query);
    while (!words.empty()) {
      const std::string word = *words.begin();
      words.erase(words.begin());
      const auto view = views.find(word);
      if (view != views.end() && read.insert(word).second) words.insert(view->second.begin(), view->second.end());
    }
    for (const std::string& view : read) ++uses[view];
  }
  return uses;
}

}  // namespace

void RunSelection::show_history() {
  TemporaryChanges changes(database_);
  for (const std::string& sql : std::exchange(changes.undo(), {})) changes.run(sql);
}

void RunSelection::hide_history(bool unselected) {
  show_history();
  TemporaryChanges changes(database_);
  changes.run("CREATE TEMP TABLE visible_run (run_id INTEGER PRIMARY KEY)");
  changes.undo().emplace_back("DROP TABLE temp.visible_run");
  changes.run(kFindVisibleRuns, {unselected});
  const bool hides_most =
      changes.integer("SELECT 2 * (SELECT count(*) FROM temp.visible_run) < (SELECT count(*) FROM run)") != 0;
  if (!hides_most) return;
  const std::vector<Object> tables = objects_from(
      database_,
      "m.type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(m.name, 'main') c WHERE c.name = 'run_id')");
  const std::vector<Object> views = views_without_copy(database_);
  changes.run("BEGIN");
  copy_views(changes, views);
  for (const Object& table : tables) changes.undo().push_back(hide_rows(changes, table));
  changes.run("COMMIT");
  changes.run("ANALYZE temp");
}

void RunSelection::evaluate_once(const std::vector<std::string>& queries) {
  const std::map<std::string, int> uses = uses_of_views(database_, queries);
  const std::vector<Object> views = views_without_copy(database_);
  TemporaryChanges changes(database_);
  changes.run("BEGIN");
  copy_views(changes, views);
  for (const std::string view : kSummaryViews) {
    const auto found = uses.find(view);
    if (found == uses.end() || found->second < 2) continue;
    const std::int64_t start_ns = now_ns();
    changes.undo().push_back(replace_by_rows(changes, view));
    log::debug(std::to_string((now_ns() - start_ns) / 1'000'000) + " ms: view " + view);
  }
  changes.run("COMMIT");
  changes.run("ANALYZE temp");
}

}  // namespace kymo::report
