// SPDX-License-Identifier: Apache-2.0
#include "report/common_tables.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "report/file_name.hpp"

namespace kymo::report {
namespace fs = std::filesystem;
namespace {

struct Word {
  std::string text;
  std::size_t begin = 0;
  bool after_dot = false;  ///< a column of a table
};

bool is_word(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool is_table_name(std::string_view text) {
  const auto belongs = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') && std::ranges::all_of(text, belongs);
}

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

/// The names that a statement, whose words are `words`, defines in its own WITH: NAME AS ( or
/// NAME (COLUMNS) AS MATERIALIZED (.
std::set<std::string> names_defined_in(const std::string& sql, const std::vector<Word>& words) {
  constexpr const char* kSpaces = " \t\r\n";
  std::set<std::string> names;
  for (std::size_t as = 1; as < words.size(); ++as) {
    if (!is_keyword(words, as, "AS")) continue;
    const Word& last = words[is_keyword(words, as + 1, "MATERIALIZED") ? as + 1 : as];
    const std::size_t after = sql.find_first_not_of(kSpaces, last.begin + last.text.size());
    if (after == std::string::npos || sql[after] != '(') continue;
    const std::size_t before = sql.find_last_not_of(kSpaces, words[as].begin - 1);
    const std::size_t end = sql[before] == ')' ? sql.rfind('(', before) : words[as].begin;
    const auto name = std::find_if(words.rbegin(), words.rend(), [end](const Word& word) { return word.begin < end; });
    if (name != words.rend()) names.insert(name->text);
  }
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
  if (!is_report_file(name, "sql"))
    throw UsageError(location + ": key " + quote(key) +
                     " must name a .sql file, NAME.sql in this folder or ../REPORT/NAME.sql, not " + quote(name));
  return folder / name;
}

std::vector<std::shared_ptr<CommonTables::Entry>> CommonTables::read(Keys& keys, const fs::path& folder) const {
  std::vector<std::shared_ptr<Entry>> entries;
  const Json* table = keys.find("with");
  if (table == nullptr) return entries;
  const std::string shape = "NAME = \"FILE.sql\" or NAME = \"SELECT …\"";
  if (!table->is_object()) keys.reject("with", "a table: " + shape);
  for (const auto& [name, value] : table->items()) {
    const std::string key = "with." + name;
    if (!is_table_name(name))
      keys.fail("key " + quote(key) + ": a name consists of a-z, 0-9 and _, without a digit first");
    if (!value.is_string()) keys.reject(key, "a string: " + shape);
    entries.push_back(std::make_shared<Entry>(
        Entry{name, read_query_of(value.get<std::string>(), folder, key, keys.location()), keys.location()}));
  }
  return entries;
}

void CommonTables::add(Keys& keys, const fs::path& folder) {
  own_.clear();
  for (const auto& entry : read(keys, folder)) {
    entries_[entry->name] = entry;
    own_.push_back(entry);
  }
}

void CommonTables::replace(Keys& keys, const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  for (const auto& entry : read(keys, folder)) {
    const auto found = entries_.find(entry->name);
    if (found == entries_.end())
      keys.fail("key " + quote("with." + entry->name) +
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
  const std::vector<Word> words = names_in(sql);
  const std::set<std::string> defined = names_defined_in(sql, words);
  for (const Word& word : words) {
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
