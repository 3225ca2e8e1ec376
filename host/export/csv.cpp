// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "export/export.hpp"
#include "export/output.hpp"
#include "export/pages.hpp"
#include "report/escape.hpp"
#include "store/sqlite.hpp"

namespace kymo::exports {

using store::identifier;
using store::ResultsDatabase;
using Cell = ResultsDatabase::Cell;
using Parameters = std::vector<std::pair<std::string, std::string>>;

namespace {

std::string field(const Cell& cell) {
  switch (cell.type) {
    case Cell::Type::kInteger:
      return std::to_string(cell.integer);
    case Cell::Type::kReal:
      return fmt::format("{}", cell.real);  // full precision: the file is meant for further processing
    case Cell::Type::kText:
      return report::escape_csv(cell.text);
    case Cell::Type::kNull:
      break;
  }
  return "";
}

void write_header(Output& output, const std::vector<std::string>& columns) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) line += (i > 0 ? "," : "") + report::escape_csv(columns[i]);
  output.write(line + "\r\n");
}

void write_row(Output& output, const std::vector<Cell>& row, std::size_t count) {
  std::string line;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) line += ',';
    line += field(row[i]);
  }
  output.write(line + "\r\n");
}

/// Writes the result of a query row by row.
void copy_rows(const ResultsDatabase& database, const std::string& sql, const Parameters& parameters, Output& output) {
  database.read(
      sql, parameters, [&](const std::vector<std::string>& columns) { write_header(output, columns); },
      [&](const std::vector<Cell>& row) {
        write_row(output, row, row.size());
        return true;
      });
}

/// A table or view and the filters applied to it.
class Source {
 public:
  Source(const ResultsDatabase& database, const CsvRequest& request) : database_(database), name_(request.table) {
    std::vector<std::string> known;
    for (const auto& row :
         database
             .query("SELECT name FROM main.sqlite_master WHERE type IN ('table', 'view') AND name NOT GLOB '_*' "
                    "ORDER BY name")
             .rows) {
      known.push_back(row[0].text);
    }
    if (!contains(known, name_)) {
      throw UsageError("no such table or view: " + quote(name_) + suggestion(name_, known));
    }
    for (const auto& row :
         database.query("SELECT name, pk FROM pragma_table_info(:table) ORDER BY cid", {{"table", name_}}).rows) {
      columns_.push_back(row[0].text);
      if (row[1].integer > 0) keys_.emplace_back(row[1].integer, row[0].text);
    }
    std::ranges::sort(keys_);
    // Parameters are bound as text, and view columns need not have an affinity that converts them to numbers.
    if (request.choice.run) narrow("run_id", "--run", "CAST(:run_id AS INTEGER)", std::to_string(*request.choice.run));
    if (request.choice.rank) narrow("rank", "--rank", "CAST(:rank AS INTEGER)", std::to_string(*request.choice.rank));
    if (request.choice.pass) narrow("pass", "--pass", ":pass", *request.choice.pass);
  }

  void write(Output& output) {
    // Views have no primary key, so they are read at once.
    if (keys_.empty()) {
      copy_rows(database_, "SELECT " + list(columns_) + from(""), parameters_, output);
      return;
    }
    write_header(output, columns_);
    std::vector<Cell> last;
    while (true) {
      const ResultsDatabase::Table page = read_page(last);
      for (const auto& row : page.rows) write_row(output, row, columns_.size());
      if (page.rows.size() < kRowsOfPage) break;
      const std::vector<Cell>& row = page.rows.back();
      last.assign(row.begin() + static_cast<std::ptrdiff_t>(columns_.size()), row.end());
    }
  }

 private:
  void narrow(const std::string& column, const std::string& option, const std::string& parameter,
              const std::string& value) {
    if (!contains(columns_, column)) {
      throw UsageError(option + " requires a column " + column + ", but " + quote(name_) + " has none");
    }
    conditions_.push_back(identifier(column) + " = " + parameter);
    parameters_.emplace_back(column, value);
  }

  ResultsDatabase::Table read_page(const std::vector<Cell>& last) const {
    std::vector<std::string> keys;
    for (const auto& [position, name] : keys_) keys.push_back(name);
    Parameters parameters = parameters_;
    std::string behind;
    if (!last.empty()) {
      std::vector<std::string> values;
      for (std::size_t i = 0; i < last.size(); ++i) {
        const std::string parameter = "key" + std::to_string(i);
        const bool is_integer = last[i].type == Cell::Type::kInteger;
        values.push_back(is_integer ? "CAST(:" + parameter + " AS INTEGER)" : ":" + parameter);
        parameters.emplace_back(parameter, is_integer ? std::to_string(last[i].integer) : last[i].text);
      }
      behind = "(" + list(keys) + ") > (" + join(values, ", ") + ")";
    }
    const std::string order = " ORDER BY " + list(keys) + " LIMIT " + std::to_string(kRowsOfPage);
    return database_.query("SELECT " + list(columns_) + ", " + list(keys) + from(behind) + order, parameters);
  }

  std::string from(const std::string& condition) const {
    std::vector<std::string> conditions = conditions_;
    if (!condition.empty()) conditions.push_back(condition);
    return " FROM main." + identifier(name_) + (conditions.empty() ? "" : " WHERE " + join(conditions, " AND "));
  }

  static std::string list(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + identifier(name);
    return text;
  }

  const ResultsDatabase& database_;
  std::string name_;
  std::vector<std::string> columns_;
  std::vector<std::pair<std::int64_t, std::string>> keys_;  // sorted by position in the primary key
  std::vector<std::string> conditions_;
  Parameters parameters_;
};

}  // namespace

Written export_csv(const ResultsDatabase& database, const CsvRequest& request, const std::filesystem::path& file) {
  if (request.query.empty() == request.table.empty()) throw UsageError("pass exactly one of --table and --query");
  const bool narrows = request.choice.run || request.choice.rank || request.choice.pass;
  if (!request.query.empty() && narrows)
    throw UsageError("--run, --rank and --pass only apply to --table; put the conditions into --query");
  const std::filesystem::path target = file.empty() ? "-" : file;
  if (!request.query.empty()) {
    Output output(target, Output::Kind::kText);
    copy_rows(database, request.query, {}, output);
    output.finish();
    return {target, {}};
  }
  Source source(database, request);
  Output output(target, Output::Kind::kText);
  source.write(output);
  output.finish();
  return {target, {}};
}

}  // namespace kymo::exports
