// SPDX-License-Identifier: Apache-2.0
#include "store/structure.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "store/sql_tokens.hpp"

namespace kymo::store {
namespace {

/// SQLite skips this mark between tokens, so that it could hide a keyword.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

[[noreturn]] void reject(const Connection& connection, const std::string& why) {
  throw Error("database " + quote(connection.file().string()) + ": " + why + "; use a copy or another file");
}

/// A row of sqlite_master. What it is, is in its statement: SQLite does not check the other columns.
struct SchemaObject {
  std::string sql;
  std::vector<Token> tokens;

  std::size_t kind_at() const {
    std::size_t at = 1;
    while (at < tokens.size() && (tokens[at].is("temp") || tokens[at].is("temporary") || tokens[at].is("unique"))) ++at;
    return at;
  }
  bool is(std::string_view kind) const { return kind_at() < tokens.size() && tokens[kind_at()].is(kind); }
  std::string name() const { return kind_at() + 1 < tokens.size() ? tokens[kind_at() + 1].text : ""; }
};

/// Tables by name, as statements that create them.
using CreatedTables = std::map<std::string, SchemaObject>;

std::vector<SchemaObject> objects_in(const Connection& connection) {
  std::vector<SchemaObject> objects;
  Statement rows(connection, "SELECT sql FROM main.sqlite_master WHERE sql IS NOT NULL");
  while (rows.step()) {
    std::string sql = rows.text(0);
    std::vector<Token> tokens = tokens_of(sql);
    objects.push_back({std::move(sql), std::move(tokens)});
  }
  return objects;
}

CreatedTables tables_among(std::vector<SchemaObject> objects) {
  CreatedTables tables;
  for (SchemaObject& object : objects) {
    if (object.is("table")) tables.emplace(object.name(), std::move(object));
  }
  return tables;
}

/// The tables that the migrations up to a version create.
CreatedTables migrated_tables(const Schema& schema, std::int64_t version) {
  const auto scratch = Connection::temporary("schema");
  if (version == schema.tables_version) {
    scratch->exec(schema.tables);
  } else {
    for (std::int64_t i = 0; i < version; ++i) scratch->exec(schema.migrations[static_cast<std::size_t>(i)].sql);
  }
  return tables_among(objects_in(*scratch));
}

/// Returns which expression a table would evaluate, or an empty string.
std::string expression_of_table(const SchemaObject& table) {
  if (table.sql.find(kByteOrderMark) != std::string::npos) return "an invisible character in its definition";
  for (std::size_t i = 0; i < table.tokens.size(); ++i) {
    const Token& token = table.tokens[i];
    if (token.is("check")) return "a CHECK constraint";
    if (token.is("as") || token.is("generated")) return "generated columns";
    if (token.is("default") && i + 1 < table.tokens.size() && table.tokens[i + 1].is_symbol('('))
      return "a default value that is an expression";
  }
  return "";
}

std::string expression_of_index(const SchemaObject& index) {
  if (index.sql.find(kByteOrderMark) != std::string::npos) return "an invisible character in its definition";
  const auto is_symbol = [](char symbol) { return [symbol](const Token& token) { return token.is_symbol(symbol); }; };
  const auto begin = std::ranges::find_if(index.tokens, is_symbol('('));
  const auto end = std::find_if(begin, index.tokens.end(), is_symbol(')'));
  if (end == index.tokens.end() || end + 1 != index.tokens.end()) return "a condition or an expression";
  const bool names_columns =
      std::all_of(begin + 1, end, [](const Token& token) { return token.is_word || token.is_symbol(','); });
  return names_columns ? "" : "an expression";
}

void check_evaluates_nothing(const Connection& connection, const SchemaObject& object) {
  const bool is_table = object.is("table");
  if (object.is("virtual")) reject(connection, "it contains a virtual table, which kymo does not read");
  if (!is_table && !object.is("index")) return;  // views are replaced, and triggers are disabled
  const std::string found = is_table ? expression_of_table(object) : expression_of_index(object);
  if (!found.empty())
    reject(connection, "its " + std::string(is_table ? "table " : "index ") + quote(object.name()) + " has " + found +
                           ", which kymo does not evaluate");
}

void check_as_migrated(const Connection& connection, const Schema& schema, std::int64_t version,
                       const CreatedTables& tables) {
  for (const auto& [name, expected] : migrated_tables(schema, version)) {
    const auto found = tables.find(name);
    if (found == tables.end()) reject(connection, "the file is damaged: it lacks the table " + name);
    if (found->second.sql != expected.sql && found->second.tokens != expected.tokens)
      reject(connection, "the file is damaged: its schema is not the one that kymo created (table " + name + ")");
  }
}

/// A view that looks like a table could run other queries, without end.
void check_are_tables(const Connection& connection, const Schema& schema) {
  const std::set<std::string> tables = table_names(schema);
  Statement found(connection,
                  "SELECT name FROM main.sqlite_master WHERE (type IN ('table', 'view') OR sql LIKE 'create table%') "
                  "AND coalesce(rootpage, 0) <= 0");
  while (found.step()) {
    if (tables.contains(lowercase(found.text(0))))
      reject(connection, "the file is damaged: the table " + found.text(0) + " is a view or a virtual table");
  }
}

}  // namespace

void check_structure(const Connection& connection, const Schema& schema, RequiredTables tables) {
  check_are_tables(connection, schema);
  std::vector<SchemaObject> objects = objects_in(connection);
  const std::int64_t version = connection.integer("PRAGMA user_version");
  const bool is_known = version >= 1 && version <= schema.version();
  for (const SchemaObject& object : objects) check_evaluates_nothing(connection, object);
  const CreatedTables found = tables_among(std::move(objects));
  if (!found.contains("meta")) {
    throw Error("database " + quote(connection.file().string()) +
                ": contains none of kymo's tables; `kymo run` creates them if the file is empty; otherwise specify "
                "another file with --db");
  }
  const bool is_migrated = tables == RequiredTables::kAsMigrated || version < schema.version();
  if (is_known && is_migrated) check_as_migrated(connection, schema, version, found);
}

}  // namespace kymo::store
