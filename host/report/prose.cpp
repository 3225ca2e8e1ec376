// SPDX-License-Identifier: Apache-2.0
#include "report/prose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <kainjow/mustache.hpp>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "report/number.hpp"
#include "report/result.hpp"
#include "report/unicode.hpp"

namespace kymo::report {
namespace {

using kainjow::mustache::mustache;
using Data = kainjow::mustache::data;

std::string value_text(const Column& column, const Cell& cell) {
  const std::string text = plain_text(column, cell);
  const std::string unit = common_unit(column);
  return unit.empty() || !cell.is_number() ? text : text + "\u00A0" + unit;  // no line break before the unit
}

/// The cells of a row by column, as texts; false for NULL and empty texts. `full`: texts of any length.
Data row_data(const std::map<std::string, ColumnSpec>& columns, const store::ResultsDatabase::Table& table,
              std::size_t index, bool full) {
  Data row{Data::type::object};
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& name = table.columns[i];
    const auto found = columns.find(name);
    const Column column = column_from(name, found == columns.end() ? nullptr : &found->second);
    Cell cell = cell_from(table.rows[index][i]);
    if (found != columns.end()) complete(cell, found->second, table, index);
    const bool is_text = cell.kind == Cell::Kind::kText;
    const bool nothing = cell.kind == Cell::Kind::kAbsent || (is_text && cell.text.empty());
    row.set(name, nothing ? Data(false) : Data(is_text && full ? cell.text : value_text(column, cell)));
  }
  return row;
}

struct Values {
  Data data{Data::type::object};
  std::set<std::string> names;  ///< "value" and "value.column"
};

void take_value(Values& values, const ValueSpec& spec, const QueryFunction& query, const std::string& location) {
  const std::string where = location + ", value " + quote(spec.name);
  store::ResultsDatabase::Table table;
  try {
    table = query(spec.sql);
  } catch (const UsageError& error) {
    throw UsageError(where + ": " + error.what());
  } catch (const Error& error) {  // the database is damaged
    throw Error(where + ": " + error.what(), error.code());
  }
  if (table.rows.size() > 1)
    throw UsageError(where + ": the query gives " + std::to_string(table.rows.size()) + " rows; expected at most one");
  for (const auto& [name, column] : spec.columns) {
    if (std::find(table.columns.begin(), table.columns.end(), name) == table.columns.end()) {
      throw UsageError(where + ": the query has no column " + quote(name) + suggestion(name, table.columns));
    }
  }
  values.names.insert(spec.name);
  for (const std::string& name : table.columns) values.names.insert(spec.name + "." + name);
  values.data.set(spec.name, table.rows.empty() ? Data(false) : row_data(spec.columns, table, 0, false));
}

// The template engine prints nothing for unknown names, which would silently drop a value from the report.
void check_tags(const std::string& text, const std::set<std::string>& names, const std::string& location) {
  for (std::size_t at = text.find("{{"); at != std::string::npos; at = text.find("{{", at + 2)) {
    const std::size_t end = text.find("}}", at);
    if (end == std::string::npos) throw UsageError(location + ": '{{' without '}}'");
    std::string tag = trim(std::string_view(text).substr(at + 2, end - at - 2));
    if (tag.starts_with('!')) continue;
    if (!tag.empty() && std::string_view("{&>=").find(tag.front()) != std::string_view::npos) {
      throw UsageError(location + ": tag " + quote("{{" + tag + "}}") +
                       " is not allowed; values are always escaped: {{value.column}}");
    }
    if (!tag.empty() && std::string_view("#^/").find(tag.front()) != std::string_view::npos) tag = trim(tag.substr(1));
    if (!names.contains(tag))
      throw UsageError(location + ": unknown name " + quote(tag) + suggestion(tag, {names.begin(), names.end()}));
  }
}

class SpanParser {
 public:
  Spans parse(std::string_view markup) {
    while (!markup.empty()) {
      if (markup.front() == '\\' && markup.size() > 1) {
        markup.remove_prefix(1);
        append_utf8(text_, take_code_point(markup));
      } else if (markup.front() == '`') {
        markup.remove_prefix(1);
        toggle(Style::kCode);
      } else if (style_ != Style::kCode && markup.starts_with("**")) {
        markup.remove_prefix(2);
        toggle(Style::kStrong);
      } else if (style_ != Style::kCode && markup.front() == '*') {
        markup.remove_prefix(1);
        toggle(Style::kEmphasis);
      } else {
        append_utf8(text_, take_code_point(markup));
      }
    }
    end_span();
    return std::move(spans_);
  }

 private:
  void toggle(Style style) {
    end_span();
    style_ = style_ == style ? Style::kPlain : style;
  }
  void end_span() {
    if (!text_.empty()) spans_.push_back({style_, text_});
    text_.clear();
  }
  Spans spans_;
  std::string text_;
  Style style_ = Style::kPlain;
};

}  // namespace

std::string protect_markup(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '\\' || c == '*' || c == '`') out += '\\';
    out += c;
  }
  return out;
}

Spans parse_spans(std::string_view markup) { return SpanParser().parse(std::string(markup)); }

Prose parse_prose(std::string_view markup) {
  Prose prose;
  std::string paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) prose.push_back(Paragraph{SpanParser().parse(paragraph)});
    paragraph.clear();
  };
  bool in_list = false;
  for (const std::string& raw : split(markup, '\n')) {
    const std::string line = trim(raw);
    if (line.empty()) {
      end_paragraph();  // a list continues: templates leave blank lines for omitted items
    } else if (line.starts_with("- ")) {
      end_paragraph();
      if (!in_list) prose.push_back(List{});
      in_list = true;
      std::get<List>(prose.back()).items.push_back(SpanParser().parse(trim(line.substr(2))));
    } else {
      in_list = false;
      paragraph += (paragraph.empty() ? "" : " ") + line;
    }
  }
  end_paragraph();
  return prose;
}

std::vector<Spans> render_list(const ListSpec& spec, const store::ResultsDatabase::Table& rows,
                               const std::string& location) {
  if (rows.rows.empty()) return {};
  const auto filled = [&](const std::string& text, std::size_t row) {
    check_tags(text, {rows.columns.begin(), rows.columns.end()}, location);
    mustache renderer(text);
    renderer.set_custom_escape([](const std::string& value) { return protect_markup(value); });
    return renderer.render(row_data(spec.query.columns, rows, row, true));
  };
  const std::size_t shown = spec.most > 0 ? std::min(spec.most, rows.rows.size()) : rows.rows.size();
  std::string text = filled(spec.begin, 0) + (spec.separator.empty() ? "\n" : "");
  std::vector<std::string> items;
  for (std::size_t row = 0; row < shown; ++row) items.push_back(filled(spec.item, row));
  std::erase(items, "");
  text += join(items, spec.separator.empty() ? "\n" : spec.separator);
  if (shown < rows.rows.size() && !spec.rest.empty())
    text += "\n" + fmt::format(fmt::runtime(spec.rest), rows.rows.size() - shown);
  text += (spec.separator.empty() ? "\n" : "") + filled(spec.end, 0);
  std::vector<Spans> lines;
  for (const std::string& line : split(text, '\n'))
    if (!trim(line).empty()) lines.push_back(parse_spans(line));
  return lines;
}

Prose render_prose(const ProseSpec& spec, const QueryFunction& query, const std::string& location) {
  Values values;
  for (const ValueSpec& value : spec.values) take_value(values, value, query, location);
  check_tags(spec.text, values.names, location);
  mustache renderer(spec.text);
  renderer.set_custom_escape([](const std::string& text) { return protect_markup(text); });
  const std::string text = renderer.render(values.data);
  if (!renderer.is_valid()) throw UsageError(location + ": " + renderer.error_message());
  return parse_prose(text);
}

}  // namespace kymo::report
