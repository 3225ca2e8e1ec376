// SPDX-License-Identifier: Apache-2.0
#include "sample_document.hpp"

#include "report/prose.hpp"
#include "sample_database.hpp"

namespace kymo::report::testing {
namespace {

Cell text_cell(const std::string& text) {
  Cell cell;
  cell.kind = Cell::Kind::kText;
  cell.text = text;
  return cell;
}

Cell state_cell(const std::string& text) {
  Cell cell = text_cell(text);
  cell.kind = Cell::Kind::kState;
  return cell;
}

Cell measured_cell(double mean, double std) {
  Cell cell;
  cell.kind = Cell::Kind::kReal;
  cell.real = mean;
  cell.uncertainty = std;
  return cell;
}

Cell integer_cell(std::int64_t value) {
  Cell cell;
  cell.kind = Cell::Kind::kInteger;
  cell.integer = value;
  return cell;
}

Column text_column(const std::string& title, bool code) {
  Column column;
  column.name = title;
  column.title = title;
  column.code = code;
  return column;
}

Column number_column(const std::string& title, const std::string& unit, NumberFormat::Kind kind) {
  Column column;
  column.name = title;
  column.title = title;
  column.unit = unit;
  column.align = Align::kRight;
  column.format = {kind, 2};
  return column;
}

Table sample_table() {
  Table table;
  table.name = "times";
  table.caption = "Time of a step.";
  table.columns = {text_column("workload", true), number_column("elements", "", NumberFormat::Kind::kAuto),
                   number_column("step", "ms", NumberFormat::Kind::kMeasured)};
  table.rows = {{text_cell("saxpy"), integer_cell(1024), measured_cell(12.3456, 0.0521)},
                {text_cell("all_reduce"), integer_cell(16777216), measured_cell(250, 12.5)},
                {text_cell("attention|naive"), integer_cell(65536), state_cell("OOM")},
                {text_cell("lonely"), Cell{}, state_cell("skipped: needs 2 ranks")}};
  table.notes = {"– means: not measured."};
  table.query = "SELECT 1 < 2";
  return table;
}

}  // namespace

Chart sample_chart(ChartKind kind) {
  Chart chart;
  chart.name = "sample-chart";
  chart.caption = "A sample.";
  chart.kind = kind;
  chart.x = {"context", "tokens", Scale::kLog};
  chart.y = {"time", "ms", Scale::kLinear};
  if (kind == ChartKind::kBar) {
    chart.x = {"size", "", Scale::kLinear};
    chart.categories = {"small", "large"};
    chart.series = {{"forward", {{0, 10.0, 0.5, ""}, {1, 40.0, 2.0, ""}}},
                    {"backward", {{0, 19.0, 0.8, ""}, {1, std::nullopt, std::nullopt, "OOM"}}}};
  } else {
    chart.series = {
        {"small", {{128, 5.0, 0.2, ""}, {256, 10.0, 0.4, ""}, {512, 21.0, 0.3, ""}}},
        {"large",
         {{128, 20.0, std::nullopt, ""}, {256, 41.0, std::nullopt, ""}, {512, std::nullopt, std::nullopt, "OOM"}}}};
  }
  return chart;
}

Document sample_document() {
  Document document;
  document.title = "A sample report";
  document.front_matter = {
      Paragraph{{{Style::kPlain, "All "},
                 {Style::kEmphasis, "figures"},
                 {Style::kPlain, " of "},
                 {Style::kCode, "saxpy"},
                 {Style::kPlain, "."}}},
      Notice{Notice::Kind::kWarning,
             {Paragraph{{{Style::kStrong, "Take care."}}}, List{{{{Style::kPlain, "Runs out of memory: 1."}}}}}}};
  Chart bars = sample_chart(ChartKind::kBar);
  bars.name = "bars";
  Chart lines = sample_chart(ChartKind::kLine);
  lines.name = "lines";
  document.sections = {{"Times", 1, {sample_table(), bars}},
                       {"Nothing",
                        2,
                        {Notice{Notice::Kind::kEmpty, {Paragraph{{{Style::kPlain, "No run was made."}}}}},
                         List{{{{Style::kPlain, "an item"}}}}}},
                       {"Lines", 1, {lines}}};
  document.provenance = "Made by a test.";
  return document;
}

Document hostile_document() {
  Document document = sample_document();
  Table table = sample_table();
  Chart bars = sample_chart(ChartKind::kBar);
  bars.name = "hostile-bars";
  bars.categories.clear();
  bars.series.clear();
  const auto& names = hostile_names();
  table.rows.clear();
  for (const std::string& name : names) {
    const auto index = static_cast<double>(bars.categories.size());
    table.rows.push_back({text_cell(name), state_cell(name), measured_cell(index + 1, 0.1)});
    document.sections.push_back(
        {name,
         2,
         {Paragraph{{{Style::kPlain, name}, {Style::kEmphasis, name}, {Style::kStrong, name}, {Style::kCode, name}}}}});
    bars.categories.push_back(name);
    bars.series.push_back({name, {{index, index + 1, 0.1, ""}, {0, std::nullopt, std::nullopt, name}}});
    Table own = sample_table();
    own.name = "hostile-" + std::to_string(bars.categories.size());
    own.caption = name;
    own.notes = {protect_markup(name)};
    own.query = name;
    for (Column& column : own.columns) column.title = column.unit = name;
    document.sections.back().blocks.push_back(own);
    Chart line = sample_chart(ChartKind::kLine);
    line.name = "hostile-line-" + std::to_string(bars.categories.size());
    line.caption = line.x.title = line.x.unit = line.y.title = line.y.unit = line.series[0].name = name;
    line.reference_line = ReferenceLine{name, 60};
    document.sections.back().blocks.push_back(line);
  }
  document.title = names[3] + names[17] + names[2];
  document.provenance = names[2];
  document.sections.push_back({"All", 1, {table, bars, sample_chart(ChartKind::kArea)}});
  return document;
}

std::vector<Chart> built_charts(const ChartSpec& spec, const Result& found) {
  ReportDefinition definition;
  definition.file = "report.toml";
  definition.sections.push_back({"H", 1, {}, {}, {spec}});
  const Document document = build_document(definition, [&found](const std::string&) { return found; }, "");
  std::vector<Chart> charts;
  for (const Block& block : document.sections[0].blocks)
    if (const auto* chart = std::get_if<Chart>(&block)) charts.push_back(*chart);
  return charts;
}

}  // namespace kymo::report::testing
