// SPDX-License-Identifier: Apache-2.0
// Line and bar charts, and their panels.
#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/build.hpp"
#include "report/result.hpp"

namespace kymo::report {
namespace {

class PointsBuilder {
 public:
  PointsBuilder(const ChartSpec& spec, const Result& result) : spec_(spec), result_(result) {
    chart_.caption = spec.query.caption;
    chart_.kind = spec.kind;
    chart_.stacked = spec.stacked;
    chart_.x = spec.x_axis;
    chart_.y = spec.y_axis;
    const std::size_t x = column(spec.x);
    categories_ = spec.kind == ChartKind::kBar ||
                  std::ranges::any_of(result.rows, [x](const auto& row) { return !number_of(row[x]); });
  }

  std::optional<Chart> build() {
    if (spec_.panel.empty()) {
      for (const auto& row : result_.rows) add_point(chart_.series, row);
      chart_.reference_line = reference_line(result_.rows);
    } else {
      add_panels();
    }
    const bool any_value = std::ranges::any_of(chart_.series, [](const Series& series) {
      return std::ranges::any_of(series.points, [](const Point& point) { return point.y.has_value(); });
    });
    if (!any_value) return std::nullopt;
    return std::move(chart_);
  }

 private:
  using Rows = std::vector<std::vector<ResultCell>>;

  std::size_t column(const std::string& name) const { return require_column(spec_.query, result_, name); }

  void add_panels() {
    const std::vector<std::string> titles = labels_in(result_, column(spec_.panel));
    for (const std::string& title : titles) {
      const Rows rows = rows_of_part(result_, spec_.panel, title).rows;
      std::vector<Series> series;
      for (const auto& row : rows) add_point(series, row);
      if (titles.size() > 1) {
        add_panel(title, std::move(series), rows);
      } else {
        chart_.series = std::move(series);
        chart_.reference_line = reference_line(rows);
        chart_.caption += " " + title + ".";
      }
    }
    if (chart_.panels.empty()) return;
    if (chart_.caption.ends_with(':')) chart_.caption.back() = '.';
    for (Panel& panel : chart_.panels) panel.points.resize(chart_.series.size());
  }

  void add_panel(const std::string& title, std::vector<Series>&& series, const Rows& rows) {
    Panel panel{title, std::vector<std::vector<Point>>(chart_.series.size()), reference_line(rows)};
    for (Series& each : series) {
      const auto [index, known] = find_series(chart_.series, each.name);
      if (!known) panel.points.emplace_back();
      auto& all = chart_.series[index].points;
      all.insert(all.end(), each.points.begin(), each.points.end());
      panel.points[index] = std::move(each.points);
    }
    if (panel.reference_line && (!chart_.reference_line || chart_.reference_line->value < panel.reference_line->value))
      chart_.reference_line = panel.reference_line;
    chart_.panels.push_back(std::move(panel));
  }

  // Of several bounds, use the largest: no value can exceed it.
  std::optional<ReferenceLine> reference_line(const Rows& rows) {
    if (spec_.reference_line.empty()) return std::nullopt;
    const std::size_t at = column(spec_.reference_line);
    std::set<double> values;
    for (const auto& row : rows) {
      if (row[at].type == ResultCell::Type::kNull) continue;
      const auto value = number_of(row[at]);
      if (!value) {
        throw UsageError(spec_.query.name + ": column " + quote(spec_.reference_line) +
                         ", a reference line, must contain finite numbers or NULL, not " + quote(label_of(row[at])));
      }
      values.insert(*value);
    }
    if (values.empty()) return std::nullopt;
    if (values.size() > 1)
      chart_.caption += " The dashed line is the largest of " + std::to_string(values.size()) + " values.";
    return ReferenceLine{spec_.reference_line_title, *values.rbegin()};
  }

  void add_point(std::vector<Series>& all, const std::vector<ResultCell>& row) {
    const auto cell = [&](const std::string& name) -> const ResultCell& { return row[column(name)]; };
    Point point;
    if (categories_) {
      const std::string name = label_of(cell(spec_.x));
      point.x =
          static_cast<double>(category_index(name, spec_.identity.empty() ? name : label_of(cell(spec_.identity))));
    } else {
      point.x = *number_of(cell(spec_.x));
    }
    point.y = number_of(cell(spec_.y));
    if (spec_.stacked && point.y < 0.0) point.y.reset();
    if (!point.y) point.state = label_of(cell(spec_.y));
    if (!spec_.error.empty()) point.error = number_of(cell(spec_.error));
    const std::string name = spec_.series.empty() ? chart_.y.title : label_of(cell(spec_.series));
    std::vector<Point>& points = all[find_series(all, name).first].points;
    const bool taken =
        categories_ && std::ranges::any_of(points, [&point](const Point& each) { return each.x == point.x; });
    if (taken) {
      const std::string where = quote(chart_.categories[static_cast<std::size_t>(point.x)]) + " and " + quote(name);
      throw UsageError(spec_.query.name + ": two rows for " + where +
                       "; set 'identity' to the column that distinguishes them");
    }
    points.push_back(std::move(point));
  }

  /// The index of a series, which is added if necessary, and whether it was known.
  static std::pair<std::size_t, bool> find_series(std::vector<Series>& all, const std::string& name) {
    const auto found = std::ranges::find(all, name, &Series::name);
    const auto index = static_cast<std::size_t>(found - all.begin());
    const bool known = found != all.end();
    if (!known) all.push_back({name, {}});
    return {index, known};
  }

  std::size_t category_index(const std::string& name, const std::string& identity) {
    const auto found = std::ranges::find(identities_, identity);
    if (found != identities_.end()) return static_cast<std::size_t>(found - identities_.begin());
    std::string label = name;
    for (int i = 2; std::ranges::find(chart_.categories, label) != chart_.categories.end(); ++i)
      label = name + " (" + std::to_string(i) + ")";
    identities_.push_back(identity);
    chart_.categories.push_back(label);
    return identities_.size() - 1;
  }

  const ChartSpec& spec_;
  const Result& result_;
  Chart chart_;
  bool categories_ = false;
  std::vector<std::string> identities_;  // of the categories
};

}  // namespace

std::optional<Chart> build_points(const ChartSpec& spec, const Result& result) {
  return PointsBuilder(spec, result).build();
}

std::vector<Result> rows_by_figure(const ChartSpec& spec, const Result& result) {
  constexpr std::size_t kMostPanels = 12;
  if (spec.panel.empty()) return {result};
  std::vector<Result> figures;
  const std::vector<std::string> titles = labels_in(result, require_column(spec.query, result, spec.panel));
  for (std::size_t i = 0; i < titles.size(); ++i) {
    if (i % kMostPanels == 0) figures.push_back({result.columns, {}});
    const Result rows = rows_of_part(result, spec.panel, titles[i]);
    figures.back().rows.insert(figures.back().rows.end(), rows.rows.begin(), rows.rows.end());
  }
  return figures;
}

}  // namespace kymo::report
