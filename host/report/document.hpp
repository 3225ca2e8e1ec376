// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "report/chart.hpp"

/// The content of a report, independent of the output format. Texts are raw: each renderer escapes its output.
namespace kymo::report {

enum class Style { kPlain, kEmphasis, kStrong, kCode };

/// A run of text in one style.
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

/// A highlighted remark.
struct Notice {
  enum class Kind {
    kWarning,  ///< warning about the values of the report
    kEmpty,    ///< replaces a table or chart without rows and gives the reason
  };
  Kind kind = Kind::kWarning;
  Prose prose;
};

enum class Align { kLeft, kRight };

/// Number format of a column.
struct NumberFormat {
  enum class Kind {
    kAuto,         ///< integers unchanged, other numbers with four significant digits
    kPlain,        ///< like kAuto, but without digit grouping (identifiers, years)
    kFixed,        ///< `digits` decimals
    kSignificant,  ///< `digits` significant digits
    kMeasured,     ///< as many decimals as two significant digits of the uncertainty require
    kBytes,        ///< bytes in binary units
    kGeneral,      ///< at most `digits` significant digits, without zeros at the end
    kPercent,      ///< a share in percent with `digits` decimals
  };
  Kind kind = Kind::kAuto;
  int digits = 0;
  bool auto_prefix = false;  ///< each cell has its own SI prefix before the unit
  bool relative = false;     ///< the uncertainty is a share of the number, printed in percent
};

struct Column {
  std::string name;  ///< as in the query
  std::string title;
  std::string unit;  ///< empty: none
  Align align = Align::kLeft;
  NumberFormat format;
  bool code = false;  ///< texts are identifiers
  int omit = 0;       ///< columns that a narrow terminal omits, those with the largest number first; 0: never
};

/// One typed cell. A text in a numeric column is the status of a missing number ("OOM").
struct Cell {
  enum class Kind { kAbsent, kText, kState, kInteger, kReal };
  Kind kind = Kind::kAbsent;
  std::string text;
  std::int64_t integer = 0;
  double real = 0;
  std::optional<double> uncertainty;  ///< printed as ± after the number
  std::optional<double> to{};         ///< the end of a range that begins with the number
  std::string unit{};                 ///< in place of the column's, for a number with a prefix of its own

  bool is_number() const { return kind == Kind::kInteger || kind == Kind::kReal; }
};

/// A column with the same text in every row.
struct CommonText {
  std::string title;
  std::string text;
};

struct Table {
  std::string name;  ///< used as file name: lowercase letters, digits and '-'; unique in the document
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> notes;       ///< with the markup of parse_spans()
  std::string query;                    ///< the SQL of the query
  std::vector<CommonText> common = {};  ///< printed in the caption instead of as columns
  bool wraps = false;                   ///< on a terminal, the last column is text of any length
};

using Block = std::variant<Paragraph, List, Notice, Table, Chart>;

struct Section {
  std::string heading;
  int level = 1;  ///< 1 or 2
  std::vector<Block> blocks;
  bool joined = false;  ///< on a terminal, follows the previous section without a blank line
};

struct Document {
  std::string title;
  std::vector<Block> front_matter;  ///< summary and notices, before the first section
  std::vector<Section> sections;
  std::string provenance;  ///< one line about the source of the data
  bool is_short = false;   ///< few pages: no table of contents, smaller pictures
};

}  // namespace kymo::report
