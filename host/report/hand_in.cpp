// SPDX-License-Identifier: Apache-2.0
#include "report/hand_in.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kymo::report {
namespace {

constexpr std::size_t kFewestRows = 3;  // a shorter part of a table says nothing

std::string csv_file(const Table& table) { return "tables/" + table.name + ".csv"; }

/// Keeps the first and the last rows: tables are sorted by size, so that these are the smallest and the largest cases.
void keep_ends(Table& table, std::size_t rows) {
  const std::size_t all = table.rows.size();
  const std::size_t last = (rows - 1) / 2;  // one row marks the gap
  const std::size_t first = rows - 1 - last;
  std::vector<Cell> gap(table.columns.size());
  gap[0].kind = Cell::Kind::kText;
  gap[0].text = "…";
  table.rows.erase(table.rows.begin() + static_cast<std::ptrdiff_t>(first),
                   table.rows.end() - static_cast<std::ptrdiff_t>(last));
  table.rows.insert(table.rows.begin() + static_cast<std::ptrdiff_t>(first), std::move(gap));
  table.notes.push_back(fmt::format("{} of {} rows; the others are in `{}`.", rows - 1, all, csv_file(table)));
}

/// Whether a section asks for data and has none: no table, no figure, and the sentence that says what adds it.
bool lacks_data(const Section& section) {
  const auto has = [&section](auto matches) { return std::ranges::any_of(section.blocks, matches); };
  return has([](const Block& block) {
           const auto* notice = std::get_if<Notice>(&block);
           return notice != nullptr && notice->kind == Notice::Kind::kEmpty;
         }) &&
         !has([](const Block& block) {
           return std::holds_alternative<Table>(block) || std::holds_alternative<Chart>(block);
         });
}

Section with_fewer_rows(Section section) {
  Section kept{section.heading, section.level, {}, section.joined};
  std::size_t rows = kHandInRows;
  bool has_figure = false;
  Paragraph elsewhere{{{Style::kPlain, "Further tables: "}}};
  for (Block& block : section.blocks) {
    if (auto* table = std::get_if<Table>(&block)) {
      if (table->rows.size() > rows && rows < kFewestRows) {
        if (elsewhere.spans.size() > 1) elsewhere.spans.push_back({Style::kPlain, ", "});
        elsewhere.spans.push_back({Style::kCode, csv_file(*table)});
        continue;
      }
      if (table->rows.size() > rows) keep_ends(*table, rows);
      rows -= table->rows.size();
    } else if (std::holds_alternative<Chart>(block)) {
      if (std::exchange(has_figure, true)) continue;
    } else if (const auto* notice = std::get_if<Notice>(&block); notice && notice->kind == Notice::Kind::kEmpty) {
      continue;
    }
    kept.blocks.push_back(std::move(block));
  }
  if (elsewhere.spans.size() > 1) {
    elsewhere.spans.push_back({Style::kPlain, "."});
    kept.blocks.emplace_back(std::move(elsewhere));
  }
  return kept;
}

}  // namespace

Document shortened_to_hand_in(Document document) {
  List missing;
  std::vector<Section> sections;
  for (Section& section : document.sections) {
    if (lacks_data(section))
      missing.items.push_back({{Style::kPlain, section.heading}});
    else
      sections.push_back(with_fewer_rows(std::move(section)));
  }
  if (!missing.items.empty()) {
    Section last{"Not answered", 1, {}};
    last.blocks.emplace_back(Paragraph{{{Style::kPlain, "The database has no data for these sections:"}}});
    last.blocks.emplace_back(std::move(missing));
    sections.push_back(std::move(last));
  }
  document.sections = std::move(sections);
  document.is_short = true;
  document.front_matter.emplace_back(
      Paragraph{{{Style::kPlain,
                  "kymo measured and explained; answers that are handed in are the student's own. All rows are in the "
                  "folder tables."}}});
  return document;
}

}  // namespace kymo::report
