// SPDX-License-Identifier: Apache-2.0
#include "report/pivot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

namespace kymo::report {
namespace {

// More columns do not fit on a page next to those that identify a row.
constexpr std::size_t kMaxPivotedColumns = 12;

std::string identity_of(const ResultCell& cell) {
  return fmt::format("{} {} {} {}", static_cast<int>(cell.type), cell.integer, cell.real, cell.text);
}

class PivotBuilder {
 public:
  PivotBuilder(const QueryFile& file, const Result& result)
      : file_(file), result_(result), heading_(require_column(file, result, file.pivot->headings)) {
    std::set<std::string> spread{file.pivot->headings, file.pivot->order};
    for (const std::string& name : file.pivot->values) {
      values_.push_back(require_column(file, result, name));
      spread.insert(name);
      if (const auto spec = file.columns.find(name); spec != file.columns.end()) spread.insert(spec->second.plus_minus);
    }
    for (std::size_t i = 0; i < result.columns.size(); ++i)
      if (!spread.contains(result.columns[i])) keys_.push_back(i);
  }

  std::vector<PivotedQuery> build() {
    group_rows();
    sort_headings();
    const std::vector<PivotedColumn> columns = columns_with_cells();
    std::vector<PivotedQuery> parts;
    for (std::size_t i = 0; i == 0 || i < columns.size(); i += kMaxPivotedColumns)
      parts.push_back(
          part({columns.begin() + static_cast<std::ptrdiff_t>(i),
                columns.begin() + static_cast<std::ptrdiff_t>(std::min(i + kMaxPivotedColumns, columns.size()))}));
    for (std::size_t i = 0; parts.size() > 1 && i < parts.size(); ++i)
      parts[i].file.caption += fmt::format(" Part {} of {}.", i + 1, parts.size());
    return parts;
  }

 private:
  struct Heading {
    std::string text;
    double order = std::numeric_limits<double>::infinity();
  };
  struct PivotedColumn {
    std::size_t value = 0;  // column of the query
    std::string heading;
  };
  using Row = std::vector<ResultCell>;
  struct Group {
    const Row* first = nullptr;
    std::map<std::string, const Row*> cells;  // by heading
  };

  void group_rows() {
    std::map<std::string, std::size_t> known;
    for (const Row& row : result_.rows) {
      std::string identity;
      for (const std::size_t key : keys_) identity += identity_of(row[key]) + '\0';
      const auto [found, added] = known.try_emplace(identity, groups_.size());
      if (added) groups_.push_back({&row, {}});
      if (row[heading_].type == ResultCell::Type::kNull) continue;
      const std::string text = text_of(row[heading_]);
      if (!groups_[found->second].cells.emplace(text, &row).second) reject_second_row(row, text);
      note_heading(row, text);
    }
  }

  [[noreturn]] void reject_second_row(const Row& row, const std::string& heading) const {
    std::vector<std::string> labels;
    for (const std::size_t key : keys_) labels.push_back(label_of(row[key]));
    throw UsageError(file_.name + ": two rows for " + quote(join(labels, ", ")) + " and " + quote(heading) +
                     "; group them in the query, or add a hidden column that distinguishes them");
  }

  void note_heading(const Row& row, const std::string& text) {
    auto found =
        std::find_if(headings_.begin(), headings_.end(), [&](const Heading& each) { return each.text == text; });
    if (found == headings_.end()) found = headings_.insert(headings_.end(), Heading{text});
    if (file_.pivot->order.empty()) return;
    const ResultCell& order = row[require_column(file_, result_, file_.pivot->order)];
    if (order.type != ResultCell::Type::kNull && !number_of(order))
      throw UsageError(file_.name + ": column " + quote(file_.pivot->order) +
                       ", the order of the headings, must contain numbers or NULL, not " + quote(label_of(order)));
    found->order = std::min(found->order, number_of(order).value_or(found->order));
  }

  void sort_headings() {
    std::stable_sort(headings_.begin(), headings_.end(),
                     [](const Heading& a, const Heading& b) { return a.order < b.order; });
  }

  std::vector<PivotedColumn> columns_with_cells() const {
    std::vector<PivotedColumn> columns;
    for (const std::size_t value : values_) {
      for (const Heading& heading : headings_) {
        const bool any = std::any_of(groups_.begin(), groups_.end(), [&](const Group& group) {
          return cell_of(group, value, heading.text).type != ResultCell::Type::kNull;
        });
        if (any) columns.push_back({value, heading.text});
      }
    }
    return columns;
  }

  static ResultCell cell_of(const Group& group, std::size_t column, const std::string& heading) {
    const auto found = group.cells.find(heading);
    return found == group.cells.end() ? ResultCell{} : (*found->second)[column];
  }

  PivotedQuery part(const std::vector<PivotedColumn>& columns) const {
    PivotedQuery pivoted{file_, {{}, std::vector<Row>(groups_.size())}};
    // Columns keep their order; those of a value take its place.
    for (std::size_t i = 0; i < result_.columns.size(); ++i) {
      if (std::find(keys_.begin(), keys_.end(), i) != keys_.end()) {
        pivoted.result.columns.push_back(result_.columns[i]);
        for (std::size_t g = 0; g < groups_.size(); ++g) pivoted.result.rows[g].push_back((*groups_[g].first)[i]);
      }
      for (const PivotedColumn& column : columns)
        if (column.value == i) add_column(pivoted, column);
    }
    return pivoted;
  }

  void add_column(PivotedQuery& pivoted, const PivotedColumn& column) const {
    const std::string& name = result_.columns[column.value];
    ColumnSpec spec;
    if (const auto found = file_.columns.find(name); found != file_.columns.end()) spec = found->second;
    std::string title = spec.title.value_or("{}");
    spec.title = title.replace(title.find("{}"), 2, column.heading);  // validated with the definition
    const auto append = [&](const std::string& column_name, std::size_t source) {
      pivoted.result.columns.push_back(column_name);
      for (std::size_t g = 0; g < groups_.size(); ++g)
        pivoted.result.rows[g].push_back(cell_of(groups_[g], source, column.heading));
    };
    append(name + ": " + column.heading, column.value);
    if (!spec.plus_minus.empty()) {
      const std::size_t source = require_column(file_, result_, spec.plus_minus);
      spec.plus_minus += ": " + column.heading;
      append(spec.plus_minus, source);
    }
    pivoted.file.columns[name + ": " + column.heading] = spec;
  }

  const QueryFile& file_;
  const Result& result_;
  const std::size_t heading_;
  std::vector<std::size_t> values_;
  std::vector<std::size_t> keys_;
  std::vector<Group> groups_;
  std::vector<Heading> headings_;
};

/// A column without a format shows numbers as they are written, for which they are texts.
ResultCell json_cell(const Json& value, bool has_format) {
  ResultCell cell;
  if (value.is_null()) return cell;
  cell.type = value.is_number() && has_format ? ResultCell::Type::kReal : ResultCell::Type::kText;
  if (cell.type == ResultCell::Type::kReal)
    cell.real = value.get<double>();
  else
    cell.text = value.is_string() ? value.get<std::string>() : value.dump();
  return cell;
}

void spread_column(PivotedQuery& spread, const Result& result, std::size_t column, ColumnSpec spec) {
  std::vector<Json> objects;
  std::vector<std::string> names;
  std::set<std::string> known, with_text;
  for (const auto& row : result.rows) {
    objects.push_back(row[column].text.empty() ? Json::object() : parse_json(row[column].text, spread.file.name));
    for (const auto& [name, value] : objects.back().items()) {
      if (known.insert(name).second) names.push_back(name);
      if (!value.is_number()) with_text.insert(name);
    }
  }
  spec.spread = false;
  const bool has_format = spec.format.auto_prefix || spec.format.kind != NumberFormat::Kind::kAuto;
  for (const std::string& name : names) {
    spread.result.columns.push_back(result.columns[column] + ": " + name);
    for (std::size_t row = 0; row < objects.size(); ++row) {
      const auto found = objects[row].find(name);
      spread.result.rows[row].push_back(found == objects[row].end() ? ResultCell{} : json_cell(*found, has_format));
    }
    ColumnSpec& own = spread.file.columns[spread.result.columns.back()] = spec;
    own.title = name;
    if (!own.align && !with_text.contains(name)) own.align = Align::kRight;
  }
}

}  // namespace

PivotedQuery spread(const QueryFile& file, const Result& result) {
  PivotedQuery spread{file, {{}, std::vector<std::vector<ResultCell>>(result.rows.size())}};
  for (std::size_t i = 0; i < result.columns.size(); ++i) {
    const std::string& name = result.columns[i];
    const auto spec = file.columns.find(name);
    if (spec != file.columns.end() && spec->second.spread) {
      spread_column(spread, result, i, spec->second);
      continue;
    }
    spread.result.columns.push_back(name);
    for (std::size_t row = 0; row < result.rows.size(); ++row) spread.result.rows[row].push_back(result.rows[row][i]);
  }
  return spread;
}

std::vector<PivotedQuery> pivot(const QueryFile& file, const Result& result) {
  return PivotBuilder(file, result).build();
}

}  // namespace kymo::report
