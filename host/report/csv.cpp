// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "report/area.hpp"
#include "report/axis.hpp"
#include "report/escape.hpp"
#include "report/renderer.hpp"

namespace kymo::report {
namespace {

// Numbers are written with full precision, not rounded as in the report, because CSV files are meant for further
// processing.
std::string number_field(double value) { return fmt::format("{}", value); }

std::string field(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::kAbsent:
      return "";
    case Cell::Kind::kInteger:
      return std::to_string(cell.integer);
    case Cell::Kind::kReal:
      return number_field(cell.real);
    default:
      return escape_csv(cell.text);
  }
}

bool has_uncertainty(const Table& table, std::size_t column) {
  for (const auto& row : table.rows) {
    if (row[column].uncertainty) return true;
  }
  return false;
}

std::string heading(const Column& column, const char* suffix) {
  return escape_csv(column.title + suffix + (column.unit.empty() ? "" : " (" + column.unit + ")"));
}

std::string table_csv(const Table& table) {
  std::string out;
  std::string in_front;  // prefix of each row
  for (const CommonText& each : table.common) {
    out += escape_csv(each.title) + ",";
    in_front += escape_csv(each.text) + ",";
  }
  std::vector<bool> uncertain;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    uncertain.push_back(has_uncertainty(table, i));
    out += (i > 0 ? "," : "") + heading(table.columns[i], "");
    if (uncertain[i]) out += "," + heading(table.columns[i], " std");
  }
  out += "\r\n";
  for (const auto& row : table.rows) {
    out += in_front;
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += (i > 0 ? "," : "") + field(row[i]);
      if (uncertain[i]) out += "," + (row[i].uncertainty ? number_field(*row[i].uncertainty) : "");
    }
    out += "\r\n";
  }
  return out;
}

std::string whole(std::int64_t value) { return std::to_string(value); }

std::string timeline_csv(const Timeline& timeline) {
  std::string out =
      std::string(timeline.panels ? "panel," : "") + "group,lane,start_ns,end_ns,label,class,detail,step\r\n";
  for (const TimelineBar& bar : timeline.bars) {
    const Lane& lane = timeline.lanes[bar.lane];
    if (timeline.panels) out += escape_csv(lane.panel) + ",";
    out += escape_csv(lane.group) + "," + escape_csv(lane.name) + "," + whole(bar.start_ns) + "," + whole(bar.end_ns) +
           "," + escape_csv(timeline.texts.text(bar.label)) + "," + escape_csv(timeline.classes[bar.bar_class]) + "," +
           escape_csv(timeline.texts.text(bar.detail)) + "," +
           (bar.step == TimelineBar::kNoStep ? "" : whole(bar.step)) + "\r\n";
  }
  return out;
}

std::string area_csv(const Chart& chart) {
  const AreaLayers layers = area_layers(chart);
  std::string out = escape_csv(chart.x.nanoseconds ? "time (ns)" : axis_heading(chart.x));
  for (const Series& series : chart.series) out += "," + escape_csv(series.name + (chart.y.bytes ? " (bytes)" : ""));
  out += "\r\n";
  for (std::size_t i = 0; i < layers.x.size(); ++i) {
    out += number_field(layers.x[i]);
    for (const auto& values : layers.values) out += "," + number_field(values[i]);
    out += "\r\n";
  }
  return out;
}

std::string bands_csv(const std::vector<Band>& bands) {
  std::string out = "label,start,end\r\n";
  for (const Band& band : bands)
    out += escape_csv(band.label) + "," + number_field(band.start) + "," + number_field(band.end) + "\r\n";
  return out;
}

std::string blocks_csv(const MemoryBlocks& memory) {
  std::string out = "start_ns,end_ns,bytes,label,category,detail,address\r\n";
  for (const MemoryBlock& block : memory.blocks) {
    out += whole(block.start_ns) + "," + (block.end_ns ? whole(*block.end_ns) : "") + "," + whole(block.bytes) + "," +
           escape_csv(memory.texts.text(block.label)) + "," + escape_csv(memory.texts.text(block.category)) + "," +
           escape_csv(memory.texts.text(block.detail)) + "," +
           (block.address ? fmt::format("{:#x}", *block.address) : "") + "\r\n";
  }
  return out;
}

std::string segments_csv(const std::vector<MemorySegment>& segments) {
  std::string out = "start_ns,end_ns,address,bytes,stream\r\n";
  for (const MemorySegment& segment : segments)
    out += fmt::format("{},{},{:#x},{},{}\r\n", segment.start_ns, segment.end_ns ? whole(*segment.end_ns) : "",
                       segment.address, segment.bytes, segment.stream);
  return out;
}

std::string marks_csv(const Roofline& roofline) {
  std::string out = "label,detail,class,flops,bytes,ms\r\n";
  for (const RooflineMark& mark : roofline.marks) {
    out += escape_csv(mark.label) + "," + escape_csv(mark.detail) + "," +
           escape_csv(roofline.classes[mark.mark_class]) + "," + number_field(mark.flops) + "," +
           number_field(mark.bytes) + "," + number_field(mark.ms) + "\r\n";
  }
  return out;
}

std::string roofs_csv(const std::vector<Roof>& roofs) {
  std::string out = "label,kind,rate\r\n";
  for (const Roof& roof : roofs)
    out += escape_csv(roof.label) + (roof.memory ? ",memory," : ",compute,") + number_field(roof.rate) + "\r\n";
  return out;
}

// Line and bar charts show rows that also appear in a table; only the other charts need their own CSV files.
void add_chart(std::vector<OutputFile>& files, const Chart& chart) {
  const std::string stem = "charts/" + chart.name;
  if (chart.kind == ChartKind::kTimeline) files.push_back({stem + ".csv", timeline_csv(chart.timeline)});
  if (chart.kind == ChartKind::kRoofline) {
    files.push_back({stem + ".csv", marks_csv(chart.roofline)});
    files.push_back({stem + ".roofs.csv", roofs_csv(chart.roofline.roofs)});
  }
  if (chart.kind != ChartKind::kArea) return;
  files.push_back({stem + ".csv", area_csv(chart)});
  if (!chart.bands.empty()) files.push_back({stem + ".bands.csv", bands_csv(chart.bands)});
  if (!chart.memory.blocks.empty()) files.push_back({stem + ".blocks.csv", blocks_csv(chart.memory)});
  if (!chart.memory.segments.empty()) files.push_back({stem + ".segments.csv", segments_csv(chart.memory.segments)});
}

}  // namespace

std::vector<OutputFile> render_csv(const Document& document) {
  std::vector<OutputFile> files;
  for (const Section& section : document.sections) {
    for (const Block& block : section.blocks) {
      if (const auto* table = std::get_if<Table>(&block))
        files.push_back({"tables/" + table->name + ".csv", table_csv(*table)});
      if (const auto* chart = std::get_if<Chart>(&block)) add_chart(files, *chart);
    }
  }
  return files;
}

}  // namespace kymo::report
