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

/// The lines of a list; none without rows. Throws UsageError as render_prose() does.
std::vector<Spans> render_list(const ListSpec& spec, const store::ResultsDatabase::Table& rows,
                               const std::string& location);

/// Parses paragraphs separated by blank lines, lists of lines starting with "- ", and *emphasis*, **strong** and
/// `code`. A backslash escapes the next character.
Prose parse_prose(std::string_view markup);

/// The same for one paragraph.
Spans parse_spans(std::string_view markup);

/// Escapes every character with a meaning in parse_prose().
std::string protect_markup(std::string_view text);

}  // namespace kymo::report
