// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "report/definition.hpp"
#include "report/document.hpp"
#include "store/results.hpp"

namespace kymo::report {

/// Runs one read-only statement; throws Error.
using QueryFunction = std::function<store::ResultsDatabase::Table(const std::string& sql)>;

/// Fills a template with its values and parses the result. A value without a row, a NULL and an empty text are false to
/// {{#sections}}. Throws UsageError naming `place`: unknown names, values of several rows, tags that would pass text on
/// unescaped.
Prose render_prose(const ProseSpec& spec, const QueryFunction& query, const std::string& place);

/// Paragraphs apart by blank lines, lists of lines that begin with "- ", and *emphasis*, **strong** and `code`; a
/// backslash takes the next character literally.
Prose parse_prose(std::string_view markup);

/// The text with every character that parse_prose would understand made literal.
std::string protect_markup(std::string_view text);

/// A cell of a query result as a cell of a document.
Cell cell_from(const store::ResultsDatabase::Cell& cell);

/// How a column without a specification, or with one, is shown.
Column column_from(const std::string& name, const ColumnSpec* spec);

}  // namespace kymo::report
