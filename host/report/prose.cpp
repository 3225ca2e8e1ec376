// SPDX-License-Identifier: Apache-2.0
#include "report/prose.hpp"

#include <algorithm>
#include <kainjow/mustache.hpp>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "report/number.hpp"
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
  Data row{Data::type::object};
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& name = table.columns[i];
    values.names.insert(spec.name + "." + name);
    if (table.rows.empty()) continue;
    const auto found = spec.columns.find(name);
    const Column column = column_from(name, found == spec.columns.end() ? nullptr : &found->second);
    const Cell cell = cell_from(table.rows[0][i]);
    const bool nothing = cell.kind == Cell::Kind::kAbsent || (cell.kind == Cell::Kind::kText && cell.text.empty());
    row.set(name, nothing ? Data(false) : Data(value_text(column, cell)));
  }
  values.data.set(spec.name, table.rows.empty() ? Data(false) : row);
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

Cell cell_from(const store::ResultsDatabase::Cell& cell) {
  using Type = store::ResultsDatabase::Cell::Type;
  Cell out;
  switch (cell.type) {
    case Type::kNull:
      break;
    case Type::kInteger:
      out.kind = Cell::Kind::kInteger;
      out.integer = cell.integer;
      break;
    case Type::kReal:
      out.kind = Cell::Kind::kReal;
      out.real = cell.real;
      break;
    case Type::kText:
      out.kind = Cell::Kind::kText;
      out.text = cell.text;
      break;
  }
  return out;
}

Column column_from(const std::string& name, const ColumnSpec* spec) {
  Column column;
  column.name = name;
  column.title = name;
  std::replace(column.title.begin(), column.title.end(), '_', ' ');
  if (spec == nullptr) return column;
  if (spec->title) column.title = *spec->title;
  column.unit = spec->unit;
  column.format = spec->format;
  column.code = spec->code;
  column.align = spec->align.value_or(Align::kLeft);
  return column;
}

}  // namespace kymo::report
