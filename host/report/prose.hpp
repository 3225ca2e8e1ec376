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

/// Fills a template with its values and parses the result. A value without a row, a NULL and an empty text are false in
/// {{#sections}}. Throws UsageError with `location` for unknown names, values with several rows and tags that would
/// insert unescaped text.
Prose render_prose(const ProseSpec& spec, const QueryFunction& query, const std::string& location);

/// Parses paragraphs separated by blank lines, lists of lines starting with "- ", and *emphasis*, **strong** and
/// `code`. A backslash escapes the next character.
Prose parse_prose(std::string_view markup);

/// The same for one paragraph.
Spans parse_spans(std::string_view markup);

/// Escapes every character with a meaning in parse_prose().
std::string protect_markup(std::string_view text);

/// Converts a cell of a query result to a cell of a document.
Cell cell_from(const store::ResultsDatabase::Cell& cell);

/// Display of a column; `spec` is null for a column without a specification.
Column column_from(const std::string& name, const ColumnSpec* spec);

}  // namespace kymo::report
