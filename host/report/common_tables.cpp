// SPDX-License-Identifier: Apache-2.0
#include "report/common_tables.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <regex>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

namespace kymo::report {
namespace fs = std::filesystem;
namespace {

struct Word {
  std::string text;
  std::size_t begin = 0;
  bool after_dot = false;  ///< a column of a table
};

bool is_word(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

// The position after a comment or a text in single quotes that begins here; `at` if neither does.
std::size_t after_skipped(const std::string& sql, std::size_t at) {
  const auto after = [&sql](std::size_t found, std::size_t length) {
    return found == std::string::npos ? sql.size() : found + length;
  };
  if (sql.compare(at, 2, "--") == 0) return after(sql.find('\n', at), 1);
  if (sql.compare(at, 2, "/*") == 0) return after(sql.find("*/", at + 2), 2);
  if (sql[at] == '\'') return after(sql.find('\'', at + 1), 1);
  return at;
}

/// Keywords, names and numbers of a statement.
std::vector<Word> names_in(const std::string& sql) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < sql.size();) {
    if (const std::size_t next = after_skipped(sql, at); next != at) {
      at = next;
    } else if (!is_word(sql[at])) {
      ++at;
    } else {
      const std::size_t begin = at;
      while (at < sql.size() && is_word(sql[at])) ++at;
      words.push_back({sql.substr(begin, at - begin), begin, begin > 0 && sql[begin - 1] == '.'});
    }
  }
  return words;
}

bool is_keyword(const std::vector<Word>& words, std::size_t index, const std::string& keyword) {
  return index < words.size() &&
         std::ranges::equal(words[index].text, keyword, {}, [](unsigned char c) { return std::toupper(c); });
}

/// The names that a statement defines in its own WITH: NAME AS ( or NAME (COLUMNS) AS MATERIALIZED (.
std::set<std::string> names_defined_in(const std::string& sql) {
  static const std::regex kDefined(R"(\b([a-z_][a-z0-9_]*)\s+(?:\([a-z0-9_, ]*\)\s+)?AS\s+(?:MATERIALIZED\s+)?\()");
  std::set<std::string> names;
  for (std::sregex_iterator at(sql.begin(), sql.end(), kDefined); at != std::sregex_iterator(); ++at)
    names.insert((*at)[1]);
  return names;
}

/// A statement without the comments in front of it, and without a semicolon.
std::string bare_statement(const std::string& sql) {
  const std::vector<Word> words = names_in(sql);
  std::string bare = trim(words.empty() ? "" : sql.substr(words.front().begin));
  if (bare.ends_with(';')) bare.pop_back();
  return bare;
}

bool is_query(const std::string& sql) {
  const std::vector<Word> words = names_in(sql);
  return is_keyword(words, 0, "SELECT") || is_keyword(words, 0, "WITH") || is_keyword(words, 0, "VALUES");
}

std::string read_query_of(const std::string& text, const fs::path& folder, const std::string& key,
                          const std::string& location) {
  if (is_query(text)) return bare_statement(text);
  const fs::path path = query_path(folder, key, text, location);
  const std::string sql = bare_statement(read_file(path));
  if (!is_query(sql)) throw UsageError(path.string() + ": must contain one query, which begins with SELECT or WITH");
  return sql;
}

}  // namespace

fs::path query_path(const fs::path& folder, const std::string& key, const std::string& name,
                    const std::string& location) {
  static const std::regex kName(R"((\.\./[A-Za-z0-9_-]+/)?[A-Za-z0-9_-]+\.sql)");
  if (!std::regex_match(name, kName))
    throw UsageError(location + ": key " + quote(key) +
                     " must name a .sql file, NAME.sql in this folder or ../REPORT/NAME.sql, not " + quote(name));
  return folder / name;
}

std::vector<std::shared_ptr<CommonTables::Entry>> CommonTables::read(Keys& keys, const fs::path& folder,
                                                                     const std::string& location) const {
  static const std::regex kName("[a-z_][a-z0-9_]*");
  std::vector<std::shared_ptr<Entry>> entries;
  const Json* table = keys.find("with");
  if (table == nullptr) return entries;
  const std::string shape = "NAME = \"FILE.sql\" or NAME = \"SELECT …\"";
  if (!table->is_object()) throw UsageError(location + ": key 'with' must be a table: " + shape);
  for (const auto& [name, value] : table->items()) {
    const std::string key = "with." + name;
    if (!std::regex_match(name, kName))
      throw UsageError(location + ": key " + quote(key) + ": a name consists of a-z, 0-9 and _");
    if (!value.is_string()) throw UsageError(location + ": key " + quote(key) + " must be a string: " + shape);
    entries.push_back(
        std::make_shared<Entry>(Entry{name, read_query_of(value.get<std::string>(), folder, key, location), location}));
  }
  return entries;
}

void CommonTables::add(Keys& keys, const fs::path& folder, const std::string& location) {
  own_.clear();
  for (const auto& entry : read(keys, folder, location)) {
    entries_[entry->name] = entry;
    own_.push_back(entry);
  }
}

void CommonTables::replace(Keys& keys, const fs::path& folder, const std::string& location) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  for (const auto& entry : read(keys, folder, location)) {
    const auto found = entries_.find(entry->name);
    if (found == entries_.end())
      throw UsageError(location + ": key " + quote("with." + entry->name) +
                       " replaces a query of the shared content, which has none of this name" +
                       suggestion(entry->name, names));
    std::erase(own_, found->second);
    found->second = entry;
    own_.push_back(entry);
  }
}

// Depth first: a query comes after those that it reads.
void CommonTables::collect(const std::string& sql, const std::string& location, Path& path,
                           std::vector<const Entry*>& found) const {
  const std::set<std::string> defined = names_defined_in(sql);
  for (const Word& word : names_in(sql)) {
    const auto at = entries_.find(word.text);
    if (word.after_dot || at == entries_.end() || defined.contains(word.text)) continue;
    Entry& entry = *at->second;
    entry.used = true;
    if (std::ranges::find(found, &entry) != found.end()) continue;
    const bool again = std::ranges::find(path, entry.name) != path.end();
    path.push_back(entry.name);
    if (again) throw UsageError(location + ": queries of 'with' read each other: " + join(path, " → "));
    collect(entry.sql, entry.location, path, found);
    path.pop_back();
    found.push_back(&entry);
  }
}

std::string CommonTables::expand(const std::string& sql, const std::string& location) const {
  Path path;
  std::vector<const Entry*> found;
  collect(sql, location, path, found);
  if (found.empty()) return sql;
  std::vector<std::string> tables;
  for (const Entry* entry : found) tables.push_back(entry->name + " AS MATERIALIZED (\n" + entry->sql + "\n)");
  const std::string list = join(tables, ",\n");
  const std::vector<Word> words = names_in(sql);
  if (is_keyword(words, 0, "SELECT")) return std::string(sql).insert(words[0].begin, "WITH " + list + "\n");
  if (!is_keyword(words, 0, "WITH"))
    throw UsageError(location + ": a query that reads " + quote(found.back()->name) +
                     ", a query of 'with', must begin with SELECT or WITH");
  const std::size_t first = is_keyword(words, 1, "RECURSIVE") ? 2 : 1;
  return std::string(sql).insert(words.at(first).begin, list + ",\n");
}

void CommonTables::check_used() const {
  for (const auto& entry : own_)
    if (!entry->used) throw UsageError(entry->location + ": no query here reads " + quote("with." + entry->name));
}

}  // namespace kymo::report
