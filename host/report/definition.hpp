// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/query_file.hpp"

/// The content of a report folder: report.toml and the .sql files it names.
namespace kymo::report {

/// One [[section.list]]: lines from the rows of a query.
struct ListSpec {
  QueryFile query;
  std::string item;       ///< template of the lines of a row, whose columns it names
  std::string begin;      ///< template of what precedes the first row, which it names as well
  std::string end;        ///< template of what follows the last row, with the first row
  std::string separator;  ///< not empty: the items of all rows are one line
  std::size_t most = 0;   ///< rows. 0: all
  std::string rest;       ///< line in place of the others, with {} for their number; empty: none
};

/// A query with at most one row; prose refers to its columns as value.column.
struct ValueSpec {
  std::string name;
  std::string sql;
  std::map<std::string, ColumnSpec> columns;
};

/// One [[section.chart]]. Keys of every kind: `file` (query), `kind`, `split` (column; one chart per distinct value).
/// Additional keys by kind:
///
/// line, bar: `x`, `y`, `error`, `series` and `identity` name columns; `panel` names a column, too, each of whose
/// values has a small plot of its own in the chart, on common axes; `x_title`, `x_unit`, `x_scale`, `y_…` describe the
/// axes. line: `reference_line` names a column whose value is drawn as a dashed reference line labeled
/// `reference_line_title`. NULL: no line. If the rows of a chart contain different values, the largest is drawn and the
/// caption says so. bar: `stacked = true` stacks the bars of a category on a linear axis without `error`; negative
/// values are omitted.
///
/// area: stacked curves; each value is held until the next row. `x` names the position column (if its name ends in _ns
/// and no `x_unit` is given, it is shown as time since the first row). Every other column is a series, named by its
/// title (`-- column NAME: title="…"`), in bytes if its format is bytes; NULL repeats the previous value.
/// Alternatively, with `y` (and `series`), each row contains one value. `bands` names a query with the columns label,
/// start and end: intervals of the x axis drawn behind the curves (phases). `blocks` names a query with the columns
/// start_ns, end_ns (NULL: alive at the end), bytes, label, category and optionally detail: the memory blocks whose sum
/// the curves show; the HTML report shows them individually. `segments` names a query with the columns start_ns,
/// end_ns, address, bytes and stream: what the allocator reserved; the HTML report then shows the blocks by address,
/// for which `blocks` needs the column address and optionally reusable_ns (end of the use by streams). Its sentence
/// `empty` is shown if it has no rows. `events` names a query with the columns of a timeline, whose lanes the HTML
/// report shows on the same time axis, with `counters` as for a timeline. Axis keys are supported except for scales.
///
/// timeline: bars in lanes. The query has the columns lane (in order of first appearance), start_ns, end_ns, label and
/// class (the color), and optionally detail (shown on demand), group (lanes of a group are placed together under its
/// name) and step (static pictures show only the last one). Overlapping bars of a lane are placed in separate rows.
/// `panel` names a column: each of its values gets its own lanes. Panels are placed below each other on a common time
/// axis that starts at zero (or at the first event, if that is earlier), so that durations can be compared; the query
/// must not have a column step. Further optional columns, used by the HTML report: run (a name) and rank, which can be
/// selected; scope and phase; event (a name, unique within a rank of a run), launched_by (the event of the host call)
/// and called_by (the event of the operator), which connect kernels with their launches; run_id and pass, whose records
/// can be saved for other tools. `counters` names a query with the columns name, time_ns and value, and optionally
/// unit, run and rank: quantities drawn below the lanes.
///
/// roofline: a mark per row of the columns label, class (the color), flops, bytes, ms (the area) and optionally detail
/// (shown on demand), at its operations per byte and per second. Rows without positive bytes and time are named in the
/// caption. `roofs` names a query with the columns label, kind (memory: rate in B/s; compute: in FLOP/s) and rate; its
/// sentence `empty` is printed if it has no rows. With `split`, all charts have the same axes and the same scale of
/// areas.
struct ChartSpec {
  QueryFile query;
  ChartKind kind = ChartKind::kLine;
  std::string x;               ///< column
  std::string y;               ///< column; empty for an area chart whose columns are the series
  std::string error;           ///< column, or empty
  std::string series;          ///< column, or empty
  std::string split;           ///< column (one chart per distinct value), or empty
  std::string identity;        ///< column that distinguishes categories with the same name, or empty
  std::string panel;           ///< column of a timeline, line or bar chart, or empty
  std::string reference_line;  ///< column of a line chart, or empty
  std::string reference_line_title;
  bool stacked = false;  ///< for a bar chart
  Axis x_axis;
  Axis y_axis;
  std::optional<QueryFile> bands;     ///< for an area chart; filtered by its column named as `split`, if any
  std::optional<QueryFile> blocks;    ///< same as bands
  std::optional<QueryFile> segments;  ///< same as bands
  std::optional<QueryFile> roofs;     ///< for a roofline; same as bands
  std::optional<QueryFile> counters;  ///< for a timeline; same as bands
  std::optional<QueryFile> events;    ///< for an area chart; same as bands
};

struct ProseSpec {
  std::string text;  ///< template
  std::vector<ValueSpec> values;
};

/// One [[section]]. Its keys other than `heading` and `level` may be in a file of their own, `content`, so that several
/// reports can share it; queries are then looked up in the folder of that file, and the key `with` of the section
/// replaces queries of the file's key `with` (see CommonTables).
struct SectionSpec {
  std::string heading;
  int level = 1;
  ProseSpec prose;
  std::vector<QueryFile> tables;
  std::vector<ChartSpec> charts;
  std::vector<ListSpec> lists{};      ///< printed last
  std::string question{};             ///< printed first
  std::string formula{};              ///< printed after the question, marked as such
  std::string explanation{};          ///< printed after the prose, marked as not measured, with its source
  std::string source{};               ///< of the explanation
  std::vector<std::string> detail{};  ///< headings of sections to name at the end, if they have data
  bool in_appendix = false;           ///< parts without data are listed at the end of the report
  bool joined = false;                ///< as in Section
};

struct ReportDefinition {
  std::string file;  ///< report.toml, for messages
  std::string title;
  std::string suite;           ///< default suite of the runs, unless the request specifies one; empty: any
  std::string profile;         ///< of the suite, in commands of the text, unless that of the runs is known; or empty
  bool compares_runs = false;  ///< of two sets, instead of showing one
  bool every_run = false;      ///< older runs of a plan are selected, too
  bool shows_commits = false;  ///< the times of cases over commits, instead of the newest runs
  bool hides_history = false;  ///< queries see only the runs of the report and those that they are compared with
  ProseSpec summary;
  std::vector<ProseSpec> banners;  ///< shown if their prose is not empty
  std::vector<SectionSpec> sections;
};

/// Heading of the list of the parts of an appendix that have no data.
inline constexpr const char* kPartsWithoutData = "Parts without data";

/// Reads report.toml of a folder and the files it names. The sections of the file `appendix` follow those of the
/// report. Throws UsageError with file and key for unknown keys, missing keys and wrong types.
ReportDefinition read_definition(const std::filesystem::path& folder);

/// Reads what a command prints. Unlike a report, it needs neither title and headings nor captions, and tables without
/// rows are omitted.
ReportDefinition read_output_definition(const std::filesystem::path& file);

}  // namespace kymo::report
