// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "event/texts.hpp"
#include "report/timeline.hpp"

/// What a report says, free of any output format. Texts are raw: each renderer escapes what it prints.
namespace kymo::report {

enum class Style { kPlain, kEmphasis, kStrong, kCode };

/// A stretch of text in one style.
struct Span {
  Style style = Style::kPlain;
  std::string text;
  bool operator==(const Span&) const = default;
};
using Spans = std::vector<Span>;

struct Paragraph {
  Spans spans;
};

struct List {
  std::vector<Spans> items;
};

using Prose = std::vector<std::variant<Paragraph, List>>;

/// Something the reader must not miss.
struct Notice {
  enum class Kind {
    kCaution,  ///< figures to read with care
    kEmpty,    ///< stands where a table or chart would be, and says why there is none
  };
  Kind kind = Kind::kCaution;
  Prose prose;
};

enum class Align { kLeft, kRight };

/// How the numbers of a column are written.
struct NumberFormat {
  enum class Kind {
    kAuto,         ///< integers as they are, other numbers with four significant digits
    kPlain,        ///< as kAuto, but digits are never grouped (identifiers, years)
    kFixed,        ///< `digits` decimals
    kSignificant,  ///< `digits` significant digits
    kMeasured,     ///< decimals follow the uncertainty: two significant digits of it
    kBytes,        ///< bytes in binary units
  };
  Kind kind = Kind::kAuto;
  int digits = 0;
};

struct Column {
  std::string name;  ///< as in the query
  std::string title;
  std::string unit;  ///< empty: none
  Align align = Align::kLeft;
  NumberFormat format;
  bool code = false;  ///< texts are identifiers
};

/// One typed cell. A text in a column of numbers is the state of what has no number ("OOM").
struct Cell {
  enum class Kind { kAbsent, kText, kState, kInteger, kReal };
  Kind kind = Kind::kAbsent;
  std::string text;
  std::int64_t integer = 0;
  double real = 0;
  std::optional<double> uncertainty;  ///< printed as ± behind the number

  bool is_number() const { return kind == Kind::kInteger || kind == Kind::kReal; }
};

/// A column that holds the same text in every row.
struct CommonText {
  std::string title;
  std::string text;
};

struct Table {
  std::string name;  ///< of its file: lower-case letters, digits and '-'; unique in the document
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> notes;
  std::string query;                    ///< the SQL that made it
  std::vector<CommonText> common = {};  ///< told by the caption, once, and not among the columns
};

enum class ChartKind {
  kLine,
  kBar,
  kArea,      ///< curves stacked on each other, each holding its value until its next point
  kTimeline,  ///< bars in lanes over time
};
enum class Scale {
  kLinear,
  kLog,
  kAuto,  ///< logarithmic if the figures span more than two decades
};

struct Axis {
  std::string title;
  std::string unit;
  Scale scale = Scale::kLinear;
  bool nanoseconds = false;  ///< values are times in ns: shown from the first one on, in a unit that suits their span
  bool bytes = false;        ///< values are bytes: shown in a binary unit that suits them
};

struct Point {
  double x = 0;             ///< index into Chart::categories if there are any
  std::optional<double> y;  ///< absent: `state` says why
  std::optional<double> error;
  std::string state;
};

struct Series {
  std::string name;
  std::vector<Point> points;
  std::optional<std::size_t> colour{};  ///< place in the palette; without, the place among the chart's series
};

/// A bound that the figures of a line chart are read against: a dashed line across the plot.
struct Roof {
  std::string title;
  double value = 0;  ///< on the y axis; finite
};

/// A labelled stretch of the x axis, drawn behind the areas.
struct Band {
  std::string label;
  double start = 0;
  double end = 0;
};

/// A block of memory: what an area chart of memory is made of.
struct MemoryBlock {
  std::int64_t start_ns = 0;
  std::optional<std::int64_t> end_ns;  ///< absent: alive at the end
  std::int64_t bytes = 0;
  event::TextId label = event::kNoText;
  event::TextId category = event::kNoText;
  event::TextId detail = event::kNoText;
};

struct MemoryBlocks {
  event::Texts texts;  ///< labels, categories and details
  std::vector<MemoryBlock> blocks;
};

/// A picture of numbers, free of any output format. Bars always stand on categories; areas are stacked in the order of
/// the series.
struct Chart {
  std::string name;  ///< of its file, as for tables
  std::string caption;
  ChartKind kind = ChartKind::kLine;
  Axis x;
  Axis y;
  bool stacked = false;  ///< of a bar chart: the bars of a category stand on each other; no figure is below zero, none
                         ///< has an error
  std::vector<std::string> categories;
  std::vector<Series> series;
  std::optional<Roof> roof;  ///< of a line chart
  std::vector<Band> bands;   ///< of an area chart
  MemoryBlocks memory;       ///< of an area chart
  Timeline timeline;         ///< of a timeline, which has neither categories nor series
};

/// Place in the palette.
inline std::size_t colour_of(const Chart& chart, std::size_t series) {
  return chart.series[series].colour.value_or(series);
}

using Block = std::variant<Paragraph, List, Notice, Table, Chart>;

struct Section {
  std::string heading;
  int level = 1;  ///< 1 or 2
  std::vector<Block> blocks;
};

struct Document {
  std::string title;
  std::vector<Block> opening;  ///< summary and notices, before the first section
  std::vector<Section> sections;
  std::string provenance;  ///< one line on where the figures come from
};

}  // namespace kymo::report
