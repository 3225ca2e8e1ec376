// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "store/impl.hpp"
#include "store/limited.hpp"

namespace kymo::store {
namespace {

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

std::vector<Object> objects_from(const Connection& connection, const std::string& condition) {
  std::vector<Object> objects;
  Statement statement(connection,
                      "SELECT printf('\"%w\"', m.name), m.sql FROM main.sqlite_master m WHERE " + condition);
  while (statement.step()) objects.push_back({statement.text(0), statement.text(1)});
  return objects;
}

/// Creates a temporary object like one of the file. Only the first statement of the text is that object: SQLite ignores
/// the others when it reads the schema, but would run them here.
void create_temporary(const Connection& connection, const std::string& sql) {
  const std::string kCreate = "CREATE ";
  Statement(connection, kCreate + "TEMP " + sql.substr(std::min(sql.size(), kCreate.size()))).run();
}

/// Shows only the rows of visible runs under the name of a table. Returns the statement that shows the others again.
std::string hide_rows(const Connection& connection, const Object& table) {
  const std::string rows = " FROM temp.visible_run v CROSS JOIN main." + table.name + " t ON t.run_id = v.run_id";
  const std::int64_t count =
      connection.integer("SELECT count(*) FROM (SELECT 1" + rows + " LIMIT " + std::to_string(kCopiedRows + 1) + ")");
  if (count <= kCopiedRows) {
    create_temporary(connection, table.sql);
    connection.exec("INSERT INTO temp." + table.name + " SELECT t.*" + rows);
    return "DROP TABLE temp." + table.name + ";";
  }
  connection.exec("CREATE TEMP VIEW " + table.name + " AS SELECT * FROM main." + table.name +
                  " WHERE run_id IN (SELECT run_id FROM temp.visible_run)");
  return "DROP VIEW temp." + table.name + ";";
}

/// Creates temporary copies of the views: those of the file read its own tables, the copies read temporary tables and
/// views of the same names. Returns the statements that drop them.
std::string copy_views(const Connection& connection) {
  std::string drop;
  for (const Object& view : objects_from(
           connection, "m.type = 'view' AND m.name NOT IN (SELECT name FROM temp.sqlite_master WHERE type = 'view')")) {
    create_temporary(connection, view.sql);
    drop += "DROP VIEW temp." + view.name + ";";
  }
  return drop;
}

/// Replaces a temporary view by its rows. Returns the statement that drops them.
std::string replace_by_rows(const Connection& connection, const std::string& view) {
  const std::string rows = "temp.\"rows of " + view + "\"";
  connection.exec("CREATE TEMP TABLE \"rows of " + view + "\" AS SELECT * FROM temp." + view + "; DROP VIEW temp." +
                  view + "; CREATE TEMP VIEW " + view + " AS SELECT * FROM \"rows of " + view + "\"");
  if (connection.integer("SELECT count(*) FROM pragma_table_info('rows of " + view +
                         "', 'temp') WHERE name = 'run_id'") > 0)
    connection.exec("CREATE INDEX temp.\"runs of " + view + "\" ON \"rows of " + view + "\" (run_id)");
  return "DROP TABLE " + rows + ";";
}

/// The number of queries that read each view, directly or in other views.
std::map<std::string, int> uses_of_views(const Connection& connection, const std::vector<std::string>& queries) {
  std::map<std::string, std::set<std::string>> views;
  for (const Object& view : objects_from(connection, "m.type = 'view'"))
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

void ResultsDatabase::show_history() { impl_->connection->exec(std::exchange(impl_->show_history, "")); }

void ResultsDatabase::hide_history(bool unselected) {
  const Connection& connection = *impl_->connection;
  const Limited limited(connection, impl_->limits);
  show_history();
  connection.exec("CREATE TEMP TABLE visible_run (run_id INTEGER PRIMARY KEY)");
  impl_->show_history = "DROP TABLE temp.visible_run;";
  Statement(connection, kFindVisibleRuns).bind_all(unselected ? 1 : 0).run();
  const bool hides_most =
      connection.integer("SELECT 2 * (SELECT count(*) FROM temp.visible_run) < (SELECT count(*) FROM run)") != 0;
  if (!hides_most) return;
  const std::vector<Object> tables = objects_from(
      connection,
      "m.type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(m.name, 'main') c WHERE c.name = 'run_id')");
  connection.exec("BEGIN");
  impl_->show_history += copy_views(connection);
  for (const Object& table : tables) impl_->show_history += hide_rows(connection, table);
  connection.exec("COMMIT; ANALYZE temp");
}

void ResultsDatabase::evaluate_once(const std::vector<std::string>& queries) {
  const Connection& connection = *impl_->connection;
  const Limited limited(connection, impl_->limits);
  const std::map<std::string, int> uses = uses_of_views(connection, queries);
  connection.exec("BEGIN");
  impl_->show_history += copy_views(connection);
  for (const std::string view : kSummaryViews) {
    const auto found = uses.find(view);
    if (found == uses.end() || found->second < 2) continue;
    const std::int64_t start_ns = now_ns();
    impl_->show_history += replace_by_rows(connection, view);
    log::debug(std::to_string((now_ns() - start_ns) / 1'000'000) + " ms: view " + view);
  }
  connection.exec("COMMIT; ANALYZE temp");
}

}  // namespace kymo::store
