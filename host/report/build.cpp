// SPDX-License-Identifier: Apache-2.0
#include "report/build.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/colours.hpp"
#include "report/palette.hpp"
#include "report/pivot.hpp"
#include "report/result.hpp"
#include "report/unicode.hpp"

namespace kymo::report {
namespace {

class DocumentBuilder {
 public:
  DocumentBuilder(const ReportDefinition& definition, const QueryFunction& query)
      : definition_(definition), query_(query) {}

  Document build(const std::string& provenance) {
    Document document;
    document.title = definition_.title;
    document.provenance = provenance;
    add_prose(document.front_matter, render_prose(definition_.summary, query_, definition_.file));
    for (const ProseSpec& banner : definition_.banners) {
      Prose prose = render_prose(banner, query_, definition_.file + ": banner");
      if (!prose.empty()) document.front_matter.push_back(Notice{Notice::Kind::kWarning, std::move(prose)});
    }
    for (const SectionSpec& spec : definition_.sections) {
      Section section = build_section(spec);
      const bool asked = !spec.tables.empty() || !spec.charts.empty();
      const bool has_data = std::any_of(section.blocks.begin(), section.blocks.end(), [](const Block& block) {
        return std::holds_alternative<Table>(block) || std::holds_alternative<Chart>(block);
      });
      if (!spec.in_appendix || !asked || has_data)
        add_section(document, std::move(section));
      else if (spec.level == 1)
        omitted_parent_ = spec.heading;
    }
    add_details(document);
    if (!missing_.items.empty()) document.sections.push_back({kPartsWithoutData, 1, {missing_}});
    assign_colours(document);
    return document;
  }

 private:
  // A parent without data of its own remains as a heading if one of its subsections has data.

  void add_section(Document& document, Section&& section) {
    if (section.level == 2 && omitted_parent_) document.sections.push_back({*omitted_parent_, 1, {}});
    omitted_parent_.reset();
    document.sections.push_back(std::move(section));
  }

  /// Names the sections with the detail at the end of each section that refers to some.
  void add_details(Document& document) const {
    std::set<std::string> present;
    for (const Section& section : document.sections) present.insert(section.heading);
    for (const SectionSpec& spec : definition_.sections) {
      Paragraph paragraph{{{Style::kPlain, "Detail: "}}};
      for (const std::string& name : spec.detail) {
        if (!present.contains(name)) continue;
        if (paragraph.spans.size() > 1) paragraph.spans.push_back({Style::kPlain, ", "});
        paragraph.spans.push_back({Style::kEmphasis, name});
      }
      if (paragraph.spans.size() == 1) continue;
      paragraph.spans.push_back({Style::kPlain, "."});
      for (Section& section : document.sections)
        if (section.heading == spec.heading) section.blocks.emplace_back(paragraph);
    }
  }

  Section build_section(const SectionSpec& spec) {
    Section section{spec.heading, spec.level, {}};
    in_appendix_ = spec.in_appendix;
    if (!spec.question.empty()) section.blocks.emplace_back(Paragraph{{{Style::kEmphasis, spec.question}}});
    if (!spec.formula.empty()) add_prose(section.blocks, parse_prose("**Formula.** " + trim(spec.formula)));
    add_prose(section.blocks, render_prose(spec.prose, query_, definition_.file + ": section " + quote(spec.heading)));
    if (!spec.explanation.empty())
      add_prose(section.blocks,
                parse_prose("**Explanation** (not measured; " + spec.source + "). " + trim(spec.explanation)));
    for (const QueryFile& table : spec.tables) add_table(section, table);
    for (const ChartSpec& chart : spec.charts) add_charts(section, chart);
    for (const ListSpec& list : spec.lists)
      if (List lines{render_list(list, rows_of(list.query), list.query.name)}; !lines.items.empty())
        section.blocks.emplace_back(std::move(lines));
    section.joined = spec.joined;
    return section;
  }

  static void add_prose(std::vector<Block>& blocks, Prose prose) {
    for (auto& part : prose) std::visit([&blocks](auto& each) { blocks.push_back(std::move(each)); }, part);
  }

  // A table and a chart of the same rows would otherwise print the same sentence twice.
  void add_empty(Section& section, const std::string& sentence) {
    if (sentence.empty() || !emitted_.insert({section.heading, sentence}).second) return;
    if (in_appendix_) {
      Spans item{{Style::kStrong, section.heading}, {Style::kPlain, ": "}};
      for (const auto& part : parse_prose(sentence))
        if (const auto* text = std::get_if<Paragraph>(&part))
          item.insert(item.end(), text->spans.begin(), text->spans.end());
      missing_.items.push_back(std::move(item));
      return;
    }
    section.blocks.push_back(Notice{Notice::Kind::kEmpty, parse_prose(sentence)});
  }

  Result rows_of(const QueryFile& file) {
    Result result;
    try {
      result = query_(file.sql);
    } catch (const UsageError& error) {
      throw UsageError(file.name + ": " + error.what());
    } catch (const Error& error) {  // the database is damaged
      throw Error(file.name + ": " + error.what(), error.code());
    }
    for (const auto& [name, spec] : file.columns) {
      require_column(file, result, name);
      for (const std::string& other : {spec.plus_minus, spec.to})
        if (!other.empty()) require_column(file, result, other);
    }
    return result;
  }

  std::string unique_name(const std::string& text) {
    const std::string stem = file_stem_from(text);
    std::string name = stem;
    for (int i = 2; !names_.insert(name).second; ++i) name = stem + "-" + std::to_string(i);
    return name;
  }

  std::string stem_of(const QueryFile& file) const {
    return file.output_name.empty() ? std::filesystem::path(file.name).stem().string() : file.output_name;
  }

  static bool holds_numbers(const Result& result, std::size_t column, const ColumnSpec* spec) {
    const bool declared = spec != nullptr && (spec->align == Align::kRight || !spec->unit.empty() ||
                                              spec->format.kind != NumberFormat::Kind::kAuto);
    return declared || std::any_of(result.rows.begin(), result.rows.end(),
                                   [column](const auto& row) { return cell_from(row[column]).is_number(); });
  }

  void add_table(Section& section, const QueryFile& file) {
    const Result result = rows_of(file);
    if (result.rows.empty()) return add_empty(section, file.empty);
    if (std::ranges::any_of(file.columns, [](const auto& each) { return each.second.spread; })) {
      const PivotedQuery spread_rows = spread(file, result);
      return add_rows(section, spread_rows.file, spread_rows.result);
    }
    if (!file.pivot) return add_rows(section, file, result);
    for (const PivotedQuery& part : pivot(file, result)) add_rows(section, part.file, part.result);
  }

  void add_rows(Section& section, const QueryFile& file, const Result& result) {
    Table table{unique_name(stem_of(file)),
                file.caption,
                {},
                std::vector<std::vector<Cell>>(result.rows.size()),
                file.notes,
                trim(file.sql)};
    const std::vector<std::size_t> shown = shown_columns(file, result);
    for (const std::size_t i : shown) {
      const ColumnSpec* spec = spec_of(file, result.columns[i]);
      const bool only_one_left = table.columns.empty() && i == shown.back();
      if (spec != nullptr && spec->once && holds_one_text(result, i) && !only_one_left)
        table.common.push_back({column_from(result.columns[i], spec).title, label_of(result.rows[0][i])});
      else
        add_column(table, result, i, spec);
      if (spec != nullptr && !spec->note.empty()) table.notes.push_back(spec->note);
    }
    table.caption = with_common(table.caption, table.common);
    table.wraps = file.wraps;
    section.blocks.push_back(std::move(table));
  }

  static const ColumnSpec* spec_of(const QueryFile& file, const std::string& column) {
    const auto found = file.columns.find(column);
    return found == file.columns.end() ? nullptr : &found->second;
  }

  static bool is_empty(const Result& result, std::size_t column) {
    return std::ranges::all_of(result.rows,
                               [column](const auto& row) { return row[column].type == ResultCell::Type::kNull; });
  }

  /// Columns that are neither hidden nor the uncertainty of another column, nor optional and empty.
  static std::vector<std::size_t> shown_columns(const QueryFile& file, const Result& result) {
    std::set<std::string> left_out;
    for (const auto& [name, spec] : file.columns) {
      left_out.insert({spec.plus_minus, spec.to});
      if (spec.unit.starts_with('{')) left_out.insert(spec.unit.substr(1, spec.unit.size() - 2));
      if (spec.hidden) left_out.insert(name);
      if (!spec.title || spec.title->find('{') == std::string::npos) continue;
      for (const std::string& column : result.columns)
        if (spec.title->find("{" + column + "}") != std::string::npos) left_out.insert(column);
    }
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < result.columns.size(); ++i)
      if (!left_out.contains(result.columns[i])) shown.push_back(i);
    std::vector<std::size_t> filled = shown;
    std::erase_if(filled, [&](std::size_t i) {
      const ColumnSpec* spec = spec_of(file, result.columns[i]);
      return spec != nullptr && spec->optional && is_empty(result, i);
    });
    return filled.empty() ? shown : filled;
  }

  static bool holds_one_text(const Result& result, std::size_t column) {
    const ResultCell& first = result.rows[0][column];
    return first.type == ResultCell::Type::kText && !first.text.empty() &&
           std::all_of(result.rows.begin(), result.rows.end(), [&](const auto& row) {
             return row[column].type == first.type && row[column].text == first.text;
           });
  }

  /// "Steps by strategy." becomes "Steps by strategy: xl, 2 ranks."
  static std::string with_common(std::string caption, const std::vector<CommonText>& common) {
    if (common.empty()) return caption;
    if (caption.ends_with('.')) caption.pop_back();
    std::vector<std::string> texts;
    for (const CommonText& each : common) texts.push_back(each.text);
    return caption + ": " + join(texts, "; ") + ".";
  }

  static void add_column(Table& table, const Result& result, std::size_t index, const ColumnSpec* spec) {
    Column column = column_from(result.columns[index], spec);
    for (std::size_t i = 0; column.title.find('{') != std::string::npos && i < result.columns.size(); ++i)
      if (const std::size_t at = column.title.find("{" + result.columns[i] + "}"); at != std::string::npos)
        column.title.replace(at, result.columns[i].size() + 2, text_of(result.rows[0][i]));
    const bool numbers = holds_numbers(result, index, spec);
    if (numbers && (spec == nullptr || !spec->align)) column.align = Align::kRight;
    table.columns.push_back(column);
    for (std::size_t r = 0; r < result.rows.size(); ++r) {
      Cell cell = cell_from(result.rows[r][index]);
      if (numbers && cell.kind == Cell::Kind::kText) cell.kind = Cell::Kind::kState;
      if (spec != nullptr) complete(cell, *spec, result, r);
      table.rows[r].push_back(std::move(cell));
    }
  }

  void add_charts(Section& section, const ChartSpec& spec) {
    const Result result = rows_of(spec.query);
    if (result.rows.empty()) return add_empty(section, spec.query.empty);
    const auto side = [this](const std::optional<QueryFile>& file) {
      return file ? std::optional(rows_of(*file)) : std::nullopt;
    };
    const auto pointer = [](const std::optional<Result>& rows) { return rows ? &*rows : nullptr; };
    const auto bands = side(spec.bands), blocks = side(spec.blocks), roofs = side(spec.roofs);
    const auto counters = side(spec.counters), events = side(spec.events), segments = side(spec.segments);
    if (spec.split.empty())
      return add_chart(section, spec,
                       {result, pointer(bands), pointer(blocks), pointer(roofs), pointer(counters), pointer(events),
                        pointer(segments)},
                       "", {});
    const std::size_t first = section.blocks.size();
    const std::vector<std::string> names = classes_of_all(spec, result);
    const std::size_t column = require_column(spec.query, result, spec.split);
    for (const std::string& part : labels_in(result, column)) {
      const auto of_part = [&](const std::optional<Result>& all) {
        return all ? std::optional(rows_of_part(*all, spec.split, part)) : std::nullopt;
      };
      const Result own = rows_of_part(result, spec.split, part);
      const auto own_bands = of_part(bands), own_blocks = of_part(blocks), own_roofs = of_part(roofs);
      const auto own_counters = of_part(counters), own_events = of_part(events);
      const auto own_segments = of_part(segments);
      add_chart(section, spec,
                {own, pointer(own_bands), pointer(own_blocks), pointer(own_roofs), pointer(own_counters),
                 pointer(own_events), pointer(own_segments)},
                part, names);
    }
    share_scales_from(section, first);
  }

  /// Rooflines of the same query are compared with each other.
  static void share_scales_from(Section& section, std::size_t first) {
    std::vector<Roofline*> rooflines;
    for (std::size_t i = first; i < section.blocks.size(); ++i) {
      Chart* chart = std::get_if<Chart>(&section.blocks[i]);
      if (chart != nullptr && chart->kind == ChartKind::kRoofline) rooflines.push_back(&chart->roofline);
    }
    share_scales(rooflines);
  }

  /// The classes of all rooflines of a chart, which have them in the same order.
  static std::vector<std::string> classes_of_all(const ChartSpec& spec, const Result& result) {
    if (spec.kind != ChartKind::kRoofline) return {};
    std::vector<std::string> names = labels_in(result, require_column(spec.query, result, spec.series));
    return names.size() <= kPalette.size() ? names : std::vector<std::string>{};
  }

  /// What the rows show, as a sentence of the caption: the first text of the column `finding`.
  static std::string finding_in(const Result& result) {
    const auto column = find_column(result, "finding");
    if (!column) return "";
    for (const auto& row : result.rows)
      if (const std::string text = text_of(row[*column]); !text.empty()) return " " + text;
    return "";
  }

  static std::optional<Chart> build_other(const ChartSpec& spec, const ChartRows& rows,
                                          const std::vector<std::string>& names) {
    if (spec.kind == ChartKind::kTimeline)
      return build_timeline(spec.query, rows.points, spec.panel,
                            {spec.counters ? &*spec.counters : nullptr, rows.counters});
    if (spec.kind == ChartKind::kArea) return build_area(spec, rows);
    return build_roofline(spec, rows.points, *rows.roofs, names);
  }

  void add_chart(Section& section, const ChartSpec& spec, const ChartRows& rows, const std::string& part,
                 const std::vector<std::string>& names) {
    ChartSpec own = spec;
    own.query.caption += part.empty() ? "" : " " + part + ".";
    const std::string finding = finding_in(rows.points);
    if (spec.kind == ChartKind::kLine || spec.kind == ChartKind::kBar) {
      for (const Result& figure : rows_by_figure(own, rows.points)) {
        std::optional<Chart> chart = build_points(own, figure);
        if (chart) chart->caption += finding;
        add_built(section, spec, std::move(chart), part);
      }
      return;
    }
    own.query.caption += finding;
    if (spec.kind == ChartKind::kRoofline && rows.roofs->rows.empty()) add_empty(section, spec.roofs->empty);
    add_built(section, spec, build_other(own, rows, names), part);
  }

  void add_built(Section& section, const ChartSpec& spec, std::optional<Chart> chart, const std::string& part) {
    if (!chart) return add_empty(section, spec.query.empty);
    chart->query = spec.query.name;
    chart->name = unique_name(stem_of(spec.query) + (part.empty() ? "" : "-" + part));
    section.blocks.push_back(*std::move(chart));
  }

  const ReportDefinition& definition_;
  const QueryFunction& query_;
  std::set<std::string> names_;
  std::set<std::pair<std::string, std::string>> emitted_;  ///< heading and sentence
  bool in_appendix_ = false;                               ///< of the section that is being built
  List missing_;                                           ///< parts of the appendix without data
  std::optional<std::string> omitted_parent_;              ///< heading
};

}  // namespace

Document build_document(const ReportDefinition& definition, const QueryFunction& query, const std::string& provenance) {
  return DocumentBuilder(definition, query).build(provenance);
}

}  // namespace kymo::report
