// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/error.hpp"
#include "report/build.hpp"
#include "report/prose.hpp"

namespace kymo::report {
namespace {

const ColumnSpec* spec_of(const QueryFile& query, const std::string& name) {
  const auto found = query.columns.find(name);
  return found == query.columns.end() ? nullptr : &found->second;
}

bool in_bytes(const ColumnSpec* spec) { return spec != nullptr && spec->format.kind == NumberFormat::Kind::kBytes; }

class AreaBuilder {
 public:
  AreaBuilder(const ChartSpec& spec, const ChartRows& rows) : spec_(spec), rows_(rows) {}

  std::optional<Chart> build() {
    chart_.kind = ChartKind::kArea;
    chart_.caption = spec_.query.caption;
    chart_.x = spec_.x_axis;
    chart_.y = spec_.y_axis;
    if (chart_.x.nanoseconds && chart_.x.title.empty()) chart_.x.title = "time";
    if (spec_.y.empty()) {
      add_columns();
    } else {
      add_rows();
    }
    if (!any_figure()) return std::nullopt;
    if (rows_.bands != nullptr) add_bands(*rows_.bands);
    if (rows_.blocks != nullptr) add_blocks(*rows_.blocks);
    if (rows_.segments != nullptr) add_segments(*rows_.segments);
    if (rows_.events != nullptr)
      if (auto events = build_timeline(*spec_.events, *rows_.events, "",
                                       {spec_.counters ? &*spec_.counters : nullptr, rows_.counters}))
        chart_.timeline = std::move(events->timeline);
    chart_.passes = recorded_passes(rows_.points);
    chart_.caption += left_out(without_position_, "row without a position", "rows without a position");
    chart_.caption += left_out(broken_bands_, "band without a start or an end", "bands without a start or an end");
    chart_.caption += left_out(broken_blocks_, "block without a start or a size", "blocks without a start or a size");
    chart_.caption += left_out(broken_segments_, "segment without a start, a size or an address",
                               "segments without a start, a size or an address");
    return std::move(chart_);
  }

 private:
  using Row = std::vector<ResultCell>;

  // Each column except the position is a series.
  void add_columns() {
    const QueryFile& query = spec_.query;
    const Result& result = rows_.points;
    const std::size_t x = require_column(query, result, spec_.x);
    std::vector<std::size_t> columns;
    for (std::size_t i = 0; i < result.columns.size(); ++i) {
      const ColumnSpec* spec = spec_of(query, result.columns[i]);
      if (i == x || result.columns[i] == spec_.split || (spec != nullptr && spec->hidden)) continue;
      columns.push_back(i);
      chart_.series.push_back({column_from(result.columns[i], spec).title, {}});
      chart_.y.bytes = chart_.y.bytes || in_bytes(spec);
    }
    if (columns.empty())
      throw UsageError(query.name + ": the query has no column besides '" + spec_.x +
                       "'; each further column is a series");
    for (const Row* row : by_position(x)) {
      for (std::size_t s = 0; s < columns.size(); ++s) chart_.series[s].points.push_back(point(*row, x, columns[s]));
    }
  }

  // Each row is one value of one series.
  void add_rows() {
    const QueryFile& query = spec_.query;
    const std::size_t x = require_column(query, rows_.points, spec_.x);
    const std::size_t y = require_column(query, rows_.points, spec_.y);
    const bool named = !spec_.series.empty();
    const std::size_t series = named ? require_column(query, rows_.points, spec_.series) : y;
    const auto name_of = [&](const Row& row) { return named ? label_of(row[series]) : chart_.y.title; };
    chart_.y.bytes = in_bytes(spec_of(query, spec_.y));
    for (const Row& row : rows_.points.rows) series_named(name_of(row));
    for (const Row* row : by_position(x)) series_named(name_of(*row)).points.push_back(point(*row, x, y));
  }

  Series& series_named(const std::string& name) {
    for (Series& series : chart_.series) {
      if (series.name == name) return series;
    }
    return chart_.series.emplace_back(Series{name, {}});
  }

  static Point point(const Row& row, std::size_t x, std::size_t y) {
    return {*number_of(row[x]), number_of(row[y]), std::nullopt, ""};
  }

  std::vector<const Row*> by_position(std::size_t x) {
    std::vector<std::pair<double, const Row*>> positioned;
    for (const Row& row : rows_.points.rows) {
      if (const auto position = number_of(row[x])) {
        positioned.emplace_back(*position, &row);
      } else {
        ++without_position_;
      }
    }
    std::stable_sort(positioned.begin(), positioned.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<const Row*> rows;
    for (const auto& [position, row] : positioned) rows.push_back(row);
    return rows;
  }

  bool any_figure() const {
    return std::any_of(chart_.series.begin(), chart_.series.end(), [](const Series& series) {
      return std::any_of(series.points.begin(), series.points.end(),
                         [](const Point& each) { return each.y.has_value(); });
    });
  }

  void add_bands(const Result& result) {
    const std::size_t label = require_column(*spec_.bands, result, "label");
    const std::size_t start = require_column(*spec_.bands, result, "start");
    const std::size_t end = require_column(*spec_.bands, result, "end");
    for (const Row& row : result.rows) {
      const auto from = number_of(row[start]);
      const auto to = number_of(row[end]);
      if (from && to && *from <= *to) {
        chart_.bands.push_back({label_of(row[label]), *from, *to});
      } else {
        ++broken_bands_;
      }
    }
  }

  void add_blocks(const Result& result) {
    const QueryFile& query = *spec_.blocks;
    const std::size_t start = require_column(query, result, "start_ns");
    const std::size_t end = require_column(query, result, "end_ns");
    const std::size_t bytes = require_column(query, result, "bytes");
    const std::size_t label = require_column(query, result, "label");
    const std::size_t category = require_column(query, result, "category");
    const auto detail = find_column(result, "detail");
    const auto address = find_column(result, "address");
    const auto reusable = find_column(result, "reusable_ns");
    MemoryBlocks& memory = chart_.memory;
    for (const Row& row : result.rows) {
      const auto from = integer_of(row[start]);
      const auto size = integer_of(row[bytes]);
      const auto to = integer_of(row[end]);
      if (!from || !size || *size < 0 || (to && *to < *from)) {
        ++broken_blocks_;
        continue;
      }
      memory.blocks.push_back(
          {*from, to, *size, memory.texts.intern(text_of(row[label])), memory.texts.intern(label_of(row[category])),
           detail ? memory.texts.intern(text_of(row[*detail])) : event::kNoText,
           address ? address_of(row[*address]) : std::nullopt,
           to && reusable ? std::max<std::int64_t>(0, integer_of(row[*reusable]).value_or(*to) - *to) : 0});
    }
    std::stable_sort(memory.blocks.begin(), memory.blocks.end(),
                     [](const MemoryBlock& a, const MemoryBlock& b) { return a.start_ns < b.start_ns; });
  }

  static std::optional<std::uint64_t> address_of(const ResultCell& cell) {
    const auto number = integer_of(cell);
    return number ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
  }

  void add_segments(const Result& result) {
    const QueryFile& query = *spec_.segments;
    const std::size_t start = require_column(query, result, "start_ns");
    const std::size_t end = require_column(query, result, "end_ns");
    const std::size_t address = require_column(query, result, "address");
    const std::size_t bytes = require_column(query, result, "bytes");
    const std::size_t stream = require_column(query, result, "stream");
    for (const Row& row : result.rows) {
      const auto from = integer_of(row[start]);
      const auto to = integer_of(row[end]);
      const auto at = address_of(row[address]);
      const auto size = integer_of(row[bytes]);
      if (from && at && size && *size > 0 && (!to || *to >= *from))
        chart_.memory.segments.push_back({*from, to, *at, *size, integer_of(row[stream]).value_or(0)});
      else
        ++broken_segments_;
    }
    if (chart_.memory.segments.empty()) chart_.memory.without_segments = query.empty;
  }

  const ChartSpec& spec_;
  const ChartRows& rows_;
  Chart chart_;
  std::int64_t without_position_ = 0;
  std::int64_t broken_bands_ = 0;
  std::int64_t broken_blocks_ = 0;
  std::int64_t broken_segments_ = 0;
};

}  // namespace

std::optional<Chart> build_area(const ChartSpec& spec, const ChartRows& rows) {
  return AreaBuilder(spec, rows).build();
}

}  // namespace kymo::report
