// SPDX-License-Identifier: Apache-2.0
#include "store/unknown_name.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "base/ranges.hpp"
#include "base/text.hpp"
#include "store/sql_tokens.hpp"

namespace kymo::store {
namespace {

constexpr std::size_t kMaxNamedOwners = 3;

/// Names that begin with `_` are private views.
constexpr const char* kTables =
    "SELECT name FROM (SELECT * FROM sqlite_master UNION ALL SELECT * FROM temp.sqlite_master) WHERE type IN "
    "('table', 'view') AND name NOT GLOB '_*' ORDER BY type = 'table', name";

bool ends_from_clause(const Token& token) {
  for (const char* keyword :
       {"select", "where", "group", "having", "window", "order", "limit", "union", "except", "intersect"})
    if (token.is(keyword)) return true;
  return false;
}

bool follows_a_relation(const Token& token) {
  for (const char* keyword : {"join", "inner", "left", "right", "full", "cross", "natural", "on", "using", "indexed",
                              "not", "and", "or", "as"})
    if (token.is(keyword)) return true;
  return ends_from_clause(token);
}

/// The names that the message about an unknown `what` contains: the qualifier, which may be empty, and the name.
std::optional<std::pair<std::string, std::string>> unknown(const std::string& what, const std::string& message) {
  const std::string start = "no such " + what + ": ";
  if (!message.starts_with(start)) return std::nullopt;
  std::string name = message.substr(start.size(), message.find(' ', start.size()) - start.size());
  std::erase(name, '"');
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos) return std::pair{std::string(), name};
  return std::pair{name.substr(0, dot), name.substr(dot + 1)};
}

std::vector<std::string> names_from(const Connection& connection, const std::string& sql) {
  std::vector<std::string> names;
  Statement statement(connection, sql);
  while (statement.step()) names.push_back(statement.text(0));
  return names;
}

std::vector<std::string> column_names(const Connection& connection, const std::string& table) {
  std::vector<std::string> names;
  Statement statement(connection, "SELECT name FROM pragma_table_xinfo(?1)");
  statement.bind_all(table);
  while (statement.step()) names.push_back(statement.text(0));
  return names;
}

/// The tables and views that a column may belong to: those of the statement, or those that the qualifier stands for.
std::vector<std::string> tables_of(const std::vector<Relation>& relations, const std::string& qualifier) {
  std::vector<std::string> names;
  const auto add = [&](bool every) {
    for (const auto& [name, alias] : relations)
      if ((every || alias == lowercase(qualifier)) && !contains(names, name)) names.push_back(name);
  };
  if (!qualifier.empty()) add(false);
  if (names.empty()) add(true);
  return names;
}

/// The only column that has the name as one of the words it consists of, such as failed_rank for rank.
std::optional<std::string> longer_name(const std::string& name, const std::vector<std::string>& columns) {
  std::optional<std::string> found;
  for (const std::string& column : columns) {
    if (!contains(split(column, '_'), name)) continue;
    if (found) return std::nullopt;
    found = column;
  }
  return found;
}

std::string suggest_column(const Connection& connection, const std::string& qualifier, const std::string& name,
                           const std::vector<Relation>& relations) {
  std::vector<std::string> columns;
  for (const std::string& table : tables_of(relations, qualifier))
    for (const std::string& column : column_names(connection, table))
      if (lowercase(column) != lowercase(name) && !contains(columns, column)) columns.push_back(column);
  if (const auto near = nearest(name, columns)) return suggestion(name, {*near});
  if (const auto longer = longer_name(name, columns)) return "; did you mean " + quote(*longer) + "?";
  std::vector<std::string> owners;
  for (const std::string& table : names_from(connection, kTables))
    if (contains(column_names(connection, table), lowercase(name)) && !contains(owners, table)) owners.push_back(table);
  std::ranges::sort(owners);
  const bool few = !owners.empty() && owners.size() <= kMaxNamedOwners;
  return suggestion(name, columns) + (few ? "; " + quote(name) + " is a column of " + join(owners, ", ") : "");
}

}  // namespace

std::vector<Relation> relations_in(const std::string& sql) {
  struct Level {
    bool in_from = false;  // commas separate relations
    bool expects = false;  // the next name is a relation
  };
  std::vector<Relation> relations;
  std::vector<Level> levels(1);
  const std::vector<Token> tokens = tokens_of(sql);
  const Token end;
  const auto at = [&](std::size_t i) -> const Token& { return i < tokens.size() ? tokens[i] : end; };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    Level& level = levels.back();
    const Token& token = tokens[i];
    if (token.is_symbol('(')) {
      levels.push_back(level.expects ? level : Level());
    } else if (token.is_symbol(')')) {
      if (levels.size() > 1) levels.pop_back();
      levels.back().expects = false;
    } else if (token.is("from") && (i == 0 || !tokens[i - 1].is("distinct"))) {
      level = {true, true};
    } else if (token.is("join") || (token.is_symbol(',') && level.in_from)) {
      level.expects = true;
    } else if (token.is("in") && at(i + 1).is_word) {
      level.expects = true;
    } else if (ends_from_clause(token)) {
      level = {};
    } else if (token.is_word && level.expects) {
      level.expects = false;
      if (at(i + 1).is_symbol('.') && at(i + 2).is_word) i += 2;  // main.run
      Relation relation{tokens[i].text, tokens[i].text};
      const std::size_t alias = i + (at(i + 1).is("as") ? 2 : 1);
      if (at(alias).is_word && (alias == i + 2 || !follows_a_relation(at(alias)))) {
        relation.alias = at(alias).text;
        i = alias;
      }
      relations.push_back(relation);
    }
  }
  return relations;
}

std::string suggest_name(const Connection& connection, const std::string& message, const std::string& sql) {
  if (const auto name = unknown("table", message)) {
    std::vector<std::string> tables = names_from(connection, kTables);
    std::erase(tables, name->second);  // of another schema: temp.run
    const auto near = nearest(name->second, tables);
    return near ? "; did you mean " + quote(*near) + "?"
                : "; list the tables and views with SELECT name, type FROM sqlite_master, or see docs/schema.md";
  }
  if (const auto name = unknown("function", message))
    return suggestion(name->second, names_from(connection,
                                               "SELECT DISTINCT name FROM pragma_function_list WHERE name GLOB "
                                               "'[a-z]*' AND name NOT GLOB 'sqlite_*'"));
  const auto column = unknown("column", message);
  return column ? suggest_column(connection, column->first, column->second, relations_in(sql)) : "";
}

}  // namespace kymo::store
