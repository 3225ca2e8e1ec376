// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "store/impl.hpp"

namespace kymo::store {
namespace {

/// The selected runs and those that views compare them with: runs of the same invocations, for each plan the newest
/// run and the newest with status ok, and the runs of family `peak`, of which the fastest counts.
constexpr const char* kFindVisibleRuns = R"(
  CREATE TEMP TABLE visible_run (run_id INTEGER PRIMARY KEY);
  WITH _ordered AS (
    SELECT r.run_id, r.invocation_id, r.family, p.start_order,
           max(p.start_order) OVER (PARTITION BY p.plan_key) AS newest,
           max(CASE r.status WHEN 'ok' THEN p.start_order END) OVER (PARTITION BY p.plan_key) AS newest_ok
    FROM run_order p JOIN run r ON r.run_id = p.run_id)
  INSERT INTO temp.visible_run (run_id)
  SELECT run_id FROM _ordered
  WHERE start_order IN (newest, newest_ok) OR family = 'peak'
        OR invocation_id IN (SELECT r.invocation_id FROM temp.selected_run s JOIN run r ON r.run_id = s.run_id)
        OR run_id IN (SELECT run_id FROM temp.selected_run))";

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

std::string create_temporary(const std::string& sql) {
  const std::string kCreate = "CREATE ";
  return kCreate + "TEMP " + sql.substr(kCreate.size());
}

/// Shows only the rows of visible runs under the name of a table. Returns the statement that shows the others again.
std::string hide_rows(const Connection& connection, const Object& table) {
  const std::string rows = " FROM temp.visible_run v CROSS JOIN main." + table.name + " t ON t.run_id = v.run_id";
  const std::int64_t count =
      connection.integer("SELECT count(*) FROM (SELECT 1" + rows + " LIMIT " + std::to_string(kCopiedRows + 1) + ")");
  if (count <= kCopiedRows) {
    connection.exec(create_temporary(table.sql));
    connection.exec("INSERT INTO temp." + table.name + " SELECT t.*" + rows);
    return "DROP TABLE temp." + table.name + ";";
  }
  connection.exec("CREATE TEMP VIEW " + table.name + " AS SELECT * FROM main." + table.name +
                  " WHERE run_id IN (SELECT run_id FROM temp.visible_run)");
  return "DROP VIEW temp." + table.name + ";";
}

}  // namespace

void ResultsDatabase::show_history() { impl_->connection->exec(std::exchange(impl_->show_history, "")); }

void ResultsDatabase::hide_history() {
  const Connection& connection = *impl_->connection;
  show_history();
  connection.exec(kFindVisibleRuns);
  impl_->show_history = "DROP TABLE temp.visible_run;";
  const bool hides_most =
      connection.integer("SELECT 2 * (SELECT count(*) FROM temp.visible_run) < (SELECT count(*) FROM run)") != 0;
  if (!hides_most) return;
  // Views of the file read its own tables. Temporary copies of the views read the temporary tables instead.
  const std::vector<Object> views = objects_from(
      connection, "m.type = 'view' AND m.name NOT IN (SELECT name FROM temp.sqlite_master WHERE type = 'view')");
  const std::vector<Object> tables = objects_from(
      connection,
      "m.type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(m.name, 'main') c WHERE c.name = 'run_id')");
  connection.exec("BEGIN");
  for (const Object& view : views) {
    connection.exec(create_temporary(view.sql));
    impl_->show_history += "DROP VIEW temp." + view.name + ";";
  }
  for (const Object& table : tables) impl_->show_history += hide_rows(connection, table);
  connection.exec("COMMIT; ANALYZE temp");
}

}  // namespace kymo::store
