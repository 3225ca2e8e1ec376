// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/document.hpp"

/// What a report folder says: report.toml and the .sql files it names.
namespace kymo::report {

/// How one column of a query is shown.
struct ColumnSpec {
  std::optional<std::string> title;
  std::string unit;
  std::optional<Align> align;
  NumberFormat format;
  bool code = false;
  std::string plus_minus;  ///< column that holds the uncertainty; it is not shown by itself
  bool hidden = false;     ///< there for ordering or splitting only
  bool once = false;       ///< left out where all rows hold the same text; the caption tells it
};

/// A query with the documentation in its header comment.
struct QueryFile {
  std::string name;  ///< file name, for messages
  std::string sql;
  std::string caption;
  std::string empty;  ///< sentence that stands there when there are no rows
  std::vector<std::string> notes;
  std::map<std::string, ColumnSpec> columns;
};

/// A query of at most one row whose columns prose may name as value.column.
struct ValueSpec {
  std::string name;
  std::string sql;
  std::map<std::string, ColumnSpec> columns;
};

/// One [[section.chart]]. Keys of every kind: `file` (query), `kind`, `split` (column: one chart per value of it).
/// Further keys by kind:
///
/// line, bar: `x`, `y`, `error`, `series`, `identity` name columns; `x_title`, `x_unit`, `x_scale`, `y_…` describe the
/// axes. line: `roof` names a column whose value is drawn as a dashed line across the plot, called `roof_title`. NULL:
/// no line; where the rows of a chart differ, the largest value is drawn and the caption says so. bar: `stacked = true`
/// puts the bars of a category on each other, on a linear axis and without `error`; what is below zero is left out.
///
/// area: stacked curves, each holding its value until its next row. `x` names the column of the position (if its name
/// ends in _ns: shown as time since the first row, unless `x_unit` is given). Every other column is a series, headed by
/// its title (`-- column NAME: title="…"`), in bytes if its format says so; NULL holds the value before it. Or, with
/// `y` (and `series`), rows of one value each. `bands` names a query with the columns label, start, end: stretches of
/// the x axis behind the curves (phases). `blocks` names a query with the columns start_ns, end_ns (NULL: alive at the
/// end), bytes, label, category and, if wanted, detail: the blocks of memory of which the curves are the sum, which the
/// HTML report shows one by one. Axis keys but no scale.
///
/// timeline: bars in lanes. The query has the columns lane (in order of first appearance), start_ns, end_ns, label and
/// class (the colour), and if wanted detail (shown on demand), group (lanes of one group stand together under its name)
/// and step (a picture that cannot be zoomed shows the last one alone). Bars that overlap within a lane stand below
/// each other. `panel` names a column: its values, each with lanes of its own, stand below each other on one time axis
/// that starts at zero (or at the first event, if that is earlier), so that lengths compare; then the query has no
/// column step.
struct ChartSpec {
  QueryFile query;
  ChartKind kind = ChartKind::kLine;
  std::string x;         ///< column
  std::string y;         ///< column; empty in an area chart whose columns are its series
  std::string error;     ///< column, or empty
  std::string series;    ///< column, or empty
  std::string split;     ///< column: one chart per value of it, or empty
  std::string identity;  ///< column that tells categories of the same name apart, or empty
  std::string panel;     ///< column of a timeline, or empty
  std::string roof;      ///< column of a line chart, or empty
  std::string roof_title;
  bool stacked = false;  ///< of a bar chart
  Axis x_axis;
  Axis y_axis;
  std::optional<QueryFile> bands;   ///< of an area chart; a column named as `split` chooses its rows too
  std::optional<QueryFile> blocks;  ///< likewise
};

struct ProseSpec {
  std::string text;  ///< template
  std::vector<ValueSpec> values;
};

struct SectionSpec {
  std::string heading;
  int level = 1;
  ProseSpec prose;
  std::vector<QueryFile> tables;
  std::vector<ChartSpec> charts;
};

struct ReportDefinition {
  std::string file;  ///< report.toml, for messages
  std::string title;
  std::string suite;  ///< whose runs it is about unless the request names another; empty: any
  ProseSpec summary;
  std::vector<ProseSpec> banners;  ///< shown when their prose is not empty
  std::vector<SectionSpec> sections;
};

/// Reads report.toml of a folder and what it names. Throws UsageError naming file and key: unknown keys, missing keys,
/// wrong types.
ReportDefinition read_definition(const std::filesystem::path& folder);

/// Parses a query with its header comment, which must hold a caption and what to say when it is empty; `name` is for
/// messages.
QueryFile parse_query(const std::string& text, const std::string& name);

}  // namespace kymo::report
