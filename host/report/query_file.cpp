// SPDX-License-Identifier: Apache-2.0
#include "report/query_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/error.hpp"
#include "base/keys.hpp"
#include "base/text.hpp"
#include "report/number.hpp"

namespace kymo::report {
namespace {

const std::vector<std::string> kFormats{"auto",  "plain",   "fixed",   "significant", "measured",
                                        "bytes", "general", "percent", "code"};
const std::vector<int> kUsualDigits{2, 2, 2, 4, 2, 2, 4, 1, 2};  // by position in kFormats
const std::vector<std::string> kHeaderKeys{"caption", "empty", "note", "column", "pivot"};

ColumnSpec parse_column(const Json& table, const std::string& location) {
  Keys keys(table, location);
  ColumnSpec spec;
  if (const std::string title = keys.text_or("title", ""); !title.empty()) spec.title = title;
  spec.unit = keys.text_or("unit", "");
  spec.plus_minus = keys.text_or("plus_minus", "");
  spec.to = keys.text_or("to", "");
  spec.spread = keys.flag_or("spread", false);
  spec.hidden = keys.flag_or("hidden", false);
  spec.optional = keys.flag_or("optional", false);
  spec.once = keys.flag_or("once", false);
  spec.note = keys.text_or("note", "");
  spec.omit = static_cast<int>(keys.integer_or("omit", 0));
  spec.format.relative = keys.flag_or("relative", false);
  const bool auto_prefix = keys.word_or("prefix", {"fixed", "auto"}, 0) == 1;
  const std::int64_t digits = keys.integer_or("digits", -1);
  const std::size_t format = keys.word_or("format", kFormats, digits >= 0 ? 2 : 0);
  const std::size_t align = keys.word_or("align", {"left", "right", "auto"}, 2);
  keys.finish();
  if (digits > 12) keys.reject("digits", "at most 12");
  if (auto_prefix && !spec.unit.starts_with('{') && !base_unit(spec.unit))
    keys.fail("prefix=\"auto\" needs a unit of s, B, B/s, FLOP or FLOP/s, with or without a prefix, or 1, " +
              (spec.unit.empty() ? "but there is none" : "not " + quote(spec.unit)));
  spec.code = kFormats[format] == "code";
  if (!spec.code) spec.format.kind = static_cast<NumberFormat::Kind>(format);
  spec.format.digits = digits >= 0 ? static_cast<int>(digits) : kUsualDigits[format];
  spec.format.auto_prefix = auto_prefix;
  if (align < 2) spec.align = align == 0 ? Align::kLeft : Align::kRight;
  return spec;
}

PivotSpec parse_pivot(const Json& table, const std::string& headings, const std::string& location) {
  Keys keys(table, location);
  PivotSpec pivot{headings, keys.texts("values"), keys.text_or("order", "")};
  keys.finish();
  return pivot;
}

// The display options of columns that the pivot replaces.
void check_pivot(const QueryFile& query) {
  for (const std::string& name : {query.pivot->headings, query.pivot->order}) {
    if (query.columns.contains(name))
      throw UsageError(query.name + ": the pivot does not show column " + quote(name) +
                       "; remove its entry from the header comment");
  }
  for (const std::string& name : query.pivot->values) {
    const auto found = query.columns.find(name);
    if (found == query.columns.end()) continue;
    const ColumnSpec& spec = found->second;
    const std::string where = query.name + ": column " + quote(name) + ", a value of the pivot";
    if (spec.title && spec.title->find("{}") == std::string::npos)
      throw UsageError(where + ": the title must contain {} for the value of " + quote(query.pivot->headings) +
                       ", not " + quote(*spec.title));
    if (spec.hidden || spec.once) throw UsageError(where + ": 'hidden' and 'once' are not allowed");
  }
}

// One `-- key: value` or `-- column NAME: value` entry of a header comment, including its continuation lines.
struct HeaderEntry {
  std::string key;
  std::string argument;
  std::string value;
  std::string location;
};

void take_header_entry(QueryFile& query, const HeaderEntry& entry) {
  const auto& [key, argument, value, location] = entry;
  if (key == "column" || key == "pivot") {
    if (argument.empty())
      throw UsageError(location + ": " + quote(key) + " needs the name of a column: -- " + key +
                       " NAME: " + (key == "column" ? "title=\"…\"" : "values=[\"…\"]"));
    const std::string where = location + ", " + key + " " + quote(argument);
    const Json table = parse_toml("entry = { " + value + " }\n", where).at("entry");
    if (key == "column") {
      query.columns[argument] = parse_column(table, where);
    } else if (query.pivot) {
      throw UsageError(location + ": key 'pivot' is given twice");
    } else {
      query.pivot = parse_pivot(table, argument, where);
    }
    return;
  }
  if (!argument.empty()) throw UsageError(location + ": unknown key " + quote(key + " " + argument));
  if (key == "note") {
    query.notes.push_back(value);
    return;
  }
  std::string& target = key == "caption" ? query.caption : query.empty;
  if (!target.empty()) throw UsageError(location + ": key " + quote(key) + " is given twice");
  target = value;
}

bool continues_entry(const std::string& line) { return line.starts_with("--   ") && !trim(line.substr(2)).empty(); }

void append_line(std::string& value, const std::string& continuation) {
  if (!value.empty()) value += ' ';
  value += trim(continuation);
}

/// The entry "-- KEY: VALUE" or "-- KEY NAME: VALUE"; nothing for another comment.
std::optional<HeaderEntry> header_entry(const std::string& line, const std::string& location) {
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos || std::isspace(static_cast<unsigned char>(line[colon - 1])) != 0) return std::nullopt;
  std::istringstream words(line.substr(2, colon - 2));
  std::string key, name, more;
  words >> key >> name >> more;
  const auto is_letter = [](char c) { return c == '_' || std::isalpha(static_cast<unsigned char>(c)) != 0; };
  if (key.empty() || !std::ranges::all_of(key, is_letter) || !more.empty()) return std::nullopt;
  return HeaderEntry{key, name, trim(line.substr(colon + 1)), location};
}

std::vector<HeaderEntry> read_header_entries(const std::string& text, const std::string& name) {
  std::vector<HeaderEntry> entries;
  bool after_entry = false;
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    const std::string location = fmt::format("{}:{}", name, number);
    if (continues_entry(line)) {
      if (!after_entry) {
        throw UsageError(location + ": an indented comment line must follow the entry that it continues");
      }
      append_line(entries.back().value, line.substr(2));
      continue;
    }
    after_entry = false;
    if (trim(line).empty()) continue;
    if (!line.starts_with("--")) break;  // the header ends at the statement
    const std::optional<HeaderEntry> entry = header_entry(line, location);
    if (!entry) continue;
    if (std::find(kHeaderKeys.begin(), kHeaderKeys.end(), entry->key) == kHeaderKeys.end()) {
      throw UsageError(location + ": unknown key " + quote(entry->key) + " in the header comment" +
                       suggestion(entry->key, kHeaderKeys));
    }
    entries.push_back(*entry);
    after_entry = true;
  }
  return entries;
}

}  // namespace

std::map<std::string, ColumnSpec> parse_columns(const Json* table, const std::string& location) {
  std::map<std::string, ColumnSpec> columns;
  if (table == nullptr) return columns;
  for (const auto& [name, spec] : table->items())
    columns[name] = parse_column(spec, location + ", column " + quote(name));
  return columns;
}

void check_described(const QueryFile& query) {
  if (query.caption.empty()) throw UsageError(query.name + ": the header comment lacks 'caption': -- caption: …");
  if (query.empty.empty())
    throw UsageError(query.name +
                     ": the header comment lacks 'empty': -- empty: sentence to print if there are no rows");
}

QueryFile parse_header(const std::string& text, const std::string& name) {
  QueryFile query;
  query.name = name;
  query.sql = text;
  for (const HeaderEntry& entry : read_header_entries(text, name)) take_header_entry(query, entry);
  if (query.pivot) check_pivot(query);
  return query;
}

QueryFile parse_query(const std::string& text, const std::string& name) {
  QueryFile query = parse_header(text, name);
  check_described(query);
  return query;
}

}  // namespace kymo::report
