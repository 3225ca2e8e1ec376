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

/// The query results of one area chart; bands and blocks are null if the chart has none.
struct AreaRows {
  const Result& points;
  const Result* bands = nullptr;
  const Result* blocks = nullptr;
};

/// Builds stacked areas from the rows (columns as documented at ChartSpec), sorted by position. The caption counts the
/// rows that could not be drawn. Returns nullopt if there is no value. Throws UsageError with the query's file and the
/// missing column.
std::optional<Chart> build_area(const ChartSpec& spec, const AreaRows& rows);

/// Builds a timeline from the rows (columns as documented at ChartSpec). The caption counts the rows that could not be
/// drawn as given. Returns nullopt if no row has a start and an end. `panel` is a column name or empty. Throws
/// UsageError with the query's file and the missing column, or if panels are combined with steps.
std::optional<Chart> build_timeline(const QueryFile& query, const Result& result, const std::string& panel = "");

}  // namespace kymo::report
