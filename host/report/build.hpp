// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "report/definition.hpp"
#include "report/document.hpp"
#include "report/prose.hpp"
#include "report/result.hpp"

namespace kymo::report {

/// Runs the queries of a definition and builds the document from their rows. A query without rows produces its `empty`
/// sentence as a notice. Throws UsageError with the file of a query that fails or does not match its header comment.
Document build_document(const ReportDefinition& definition, const QueryFunction& query, const std::string& provenance);

/// The query results of one chart; those of side queries are null if the chart has none.
struct ChartRows {
  const Result& points;
  const Result* bands = nullptr;
  const Result* blocks = nullptr;
  const Result* roofs = nullptr;
  const Result* counters = nullptr;
  const Result* events = nullptr;
  const Result* segments = nullptr;
};

/// Builds a line or bar chart from the rows, with a panel for each value of the column `panel`, if there are several.
/// Returns nullopt if there is no value. Throws UsageError with the query's file for missing columns, and for rows that
/// have the same place.
std::optional<Chart> build_points(const ChartSpec& spec, const Result& result);

/// The rows of each figure of such a chart: a figure has at most twelve panels, so that it fits a page.
std::vector<Result> rows_by_figure(const ChartSpec& spec, const Result& result);

/// Builds stacked areas from the rows (columns as documented at ChartSpec), sorted by position. The caption counts the
/// rows that could not be drawn. Returns nullopt if there is no value. Throws UsageError with the query's file and the
/// missing column.
std::optional<Chart> build_area(const ChartSpec& spec, const ChartRows& rows);

/// The query of counter lanes and its rows; null if a timeline has none.
struct Counters {
  const QueryFile* query = nullptr;
  const Result* result = nullptr;
};

/// Builds a timeline from the rows (columns as documented at ChartSpec). The caption counts the rows that could not be
/// drawn as given. Returns nullopt if no row has a start and an end. `panel` is a column name or empty; `counters` may
/// be absent. Throws UsageError with the query's file and the missing column, or if panels are combined with steps.
std::optional<Chart> build_timeline(const QueryFile& query, const Result& result, const std::string& panel = "",
                                    const Counters& counters = {});

/// The passes named by the columns run_id, pass and (optionally) run of the rows, in order of first appearance.
std::vector<RecordedPass> recorded_passes(const Result& result);

/// Builds a roofline from the rows (columns as documented at ChartSpec). `classes` are the first classes, for charts
/// that share their colors. The caption names the largest marks and the classes of rows that could not be drawn.
/// Returns nullopt if there is neither a mark nor a roof. Throws UsageError with the query's file and the missing
/// column or the wrong kind of a roof.
std::optional<Chart> build_roofline(const ChartSpec& spec, const Result& points, const Result& roofs,
                                    const std::vector<std::string>& classes = {});

/// Sets the axes and the scale of areas so that they fit all of these charts.
void share_scales(const std::vector<Roofline*>& rooflines);

}  // namespace kymo::report
