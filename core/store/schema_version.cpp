// SPDX-License-Identifier: Apache-2.0
#include "store/schema_version.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string_view>

#include "base/installation.hpp"
#include "base/text.hpp"

namespace kymo::store {
namespace {

const std::string kCreateView = "\nCREATE VIEW ";

/// A CREATE VIEW statement in a script.
struct ViewStatement {
  std::string name;
  std::string_view rest;  ///< the script from the statement on
};

std::vector<ViewStatement> view_statements(const Schema& schema) {
  std::vector<ViewStatement> statements;
  for (const auto& script : schema.views) {
    for (std::size_t at = script.sql.find(kCreateView); at != std::string::npos;
         at = script.sql.find(kCreateView, at + 1)) {
      const std::size_t begin = at + kCreateView.size();
      statements.push_back({script.sql.substr(begin, script.sql.find_first_of(" \n", begin) - begin),
                            std::string_view(script.sql).substr(at + 1)});
    }
  }
  return statements;
}

/// The words that follow a statement's first words in a script.
std::set<std::string> names_after(std::string_view statement, const std::string& sql) {
  std::set<std::string> names;
  for (std::size_t at = sql.find(statement); at != std::string::npos; at = sql.find(statement, at + 1)) {
    const std::size_t begin = at + statement.size();
    names.insert(sql.substr(begin, sql.find_first_of(" (;\n", begin) - begin));
  }
  return names;
}

std::vector<std::string> view_names(const Schema& schema) {
  std::vector<std::string> names;
  for (const auto& statement : view_statements(schema)) names.push_back(statement.name);
  return names;
}

/// Replaces each CREATE VIEW in a script by CREATE TEMP VIEW.
std::string as_temporary(std::string sql) {
  for (std::size_t at = sql.find(kCreateView); at != std::string::npos; at = sql.find(kCreateView, at + 1)) {
    sql.replace(at, kCreateView.size(), "\nCREATE TEMP VIEW ");
  }
  return sql;
}

/// Views that users added are not dropped.
void drop_views(const Connection& connection, const Schema& schema) {
  for (const std::string& name : split(meta_value(connection, "views"), ',')) {
    if (!name.empty()) connection.exec("DROP VIEW IF EXISTS main." + identifier(name));
  }
  for (const std::string& name : view_names(schema)) connection.exec("DROP VIEW IF EXISTS main." + identifier(name));
}

}  // namespace

std::array<long, 3> version_numbers(const std::string& version) {
  std::array<long, 3> numbers{};
  const auto parts = split(version, '.');
  for (std::size_t i = 0; i < numbers.size() && i < parts.size(); ++i)
    numbers[i] = std::strtol(parts[i].c_str(), nullptr, 10);
  return numbers;
}

const Schema& own_schema() {
  static const Schema schema{schemas::migrations(),
                             schemas::views(),
                             schemas::views_digest(),
                             schemas::kCompatibleVersion,
                             kymo::version(),
                             schemas::tables(),
                             static_cast<std::int64_t>(schemas::migrations().size())};
  return schema;
}

std::set<std::string> table_names(const Schema& schema) {
  std::set<std::string> names;
  for (const auto& script : schema.migrations) {
    for (const std::string& name : names_after("DROP TABLE ", script.sql)) names.erase(name);
    names.merge(names_after("CREATE TABLE ", script.sql));  // it may replace a table
  }
  return names;
}

std::string meta_value(const Connection& connection, const std::string& key) {
  Statement statement(connection, "SELECT value FROM main.meta WHERE key = ?");
  statement.bind(1, key);
  return statement.step() ? statement.text(0) : std::string();
}

void set_meta(const Connection& connection, const std::string& key, const std::string& value) {
  Statement(connection, "INSERT OR REPLACE INTO main.meta (key, value) VALUES (?, ?)").bind_all(key, value).run();
}

void migrate(const Connection& connection, const Schema& schema) {
  std::int64_t from = connection.integer("PRAGMA user_version");
  if (from >= schema.version()) return;
  if (from == 0 && schema.tables_version <= schema.version()) {
    connection.exec(schema.tables);
    from = schema.tables_version;
  }
  for (std::int64_t i = from; i < schema.version(); ++i)
    connection.exec(schema.migrations[static_cast<std::size_t>(i)].sql);
  connection.exec("PRAGMA user_version = " + std::to_string(schema.version()));
  set_meta(connection, "schema_version", std::to_string(schema.version()));
  set_meta(connection, "compatible_version", std::to_string(schema.compatible_version));
  set_meta(connection, "kymo_version", schema.tool_version);
}

// SQLite stores the text of a statement up to its semicolon.
bool contains_views(const Connection& connection, const Schema& schema) {
  std::map<std::string, std::string> stored;
  Statement views(connection, "SELECT name, sql FROM main.sqlite_master WHERE type = 'view'");
  while (views.step()) stored.emplace(views.text(0), views.text(1));
  const std::vector<ViewStatement> statements = view_statements(schema);
  return std::all_of(statements.begin(), statements.end(), [&](const ViewStatement& view) {
    const auto found = stored.find(view.name);
    return found != stored.end() && view.rest.starts_with(found->second + ";");
  });
}

bool needs_views(const Connection& connection, const Schema& schema) {
  if (meta_value(connection, "views_digest") == schema.views_digest) return !contains_views(connection, schema);
  return version_numbers(meta_value(connection, "kymo_version")) <= version_numbers(schema.tool_version);
}

void replace_views(const Connection& connection, const Schema& schema, bool temporary) {
  if (!temporary) drop_views(connection, schema);
  for (const auto& script : schema.views) connection.exec(temporary ? as_temporary(script.sql) : script.sql);
  if (temporary) return;
  set_meta(connection, "views", join(view_names(schema), ","));
  set_meta(connection, "views_digest", schema.views_digest);
  set_meta(connection, "kymo_version", schema.tool_version);
}

}  // namespace kymo::store
