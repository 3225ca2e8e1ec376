// SPDX-License-Identifier: Apache-2.0
#include "report/definition.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/keys.hpp"
#include "base/text.hpp"
#include "report/common_tables.hpp"
#include "report/file_name.hpp"

namespace kymo::report {
namespace fs = std::filesystem;
namespace {

// Files of sections may be shared: `content` and `appendix` may name a file of a neighboring report.
std::string toml_path(const std::string& key, const std::string& name, const std::string& location) {
  if (!is_report_file(name, "toml"))
    throw UsageError(location + ": key " + quote(key) +
                     " must name a .toml file, NAME.toml or ../REPORT/NAME.toml, not " + quote(name));
  return name;
}

/// Where the files that a table of the definition names are, and what its queries can read.
struct Scope {
  fs::path folder;
  CommonTables tables;
  bool is_output = false;  ///< of a command, which has no captions
};

QueryFile read_header(const fs::path& path, const Scope& scope) {
  QueryFile query = parse_header(read_file(path), path.string());
  query.sql = scope.tables.expand(query.sql, query.name);
  return query;
}

// The keys of a table or chart replace the entries of the header comment, so that blocks can share a query.
QueryFile read_query(Keys& keys, const Scope& scope) {
  QueryFile query = read_header(query_path(scope.folder, "file", keys.text("file"), keys.location()), scope);
  query.caption = keys.text_or("caption", query.caption);
  query.empty = keys.text_or("empty", query.empty);
  query.output_name = keys.text_or("name", "");
  if (!query.output_name.empty() && !is_name(query.output_name))
    keys.fail("key 'name' must consist of letters, digits, - and _, not " + quote(query.output_name));
  query.wraps = keys.flag_or("wraps", false);
  if (!scope.is_output) check_described(query);
  return query;
}

ListSpec read_list(const Json& table, const Scope& scope, const std::string& location) {
  Keys keys(table, location + ", list");
  ListSpec list;
  list.query = read_query(keys, scope);
  list.item = keys.text_or("item", "");
  list.begin = keys.text_or("begin", "");
  list.end = keys.text_or("end", "");
  list.separator = keys.text_or("separator", "");
  list.most = static_cast<std::size_t>(keys.integer_or("most", 0));
  list.rest = keys.text_or("rest", "");
  keys.finish();
  return list;
}

// A query used by another query's chart needs no caption of its own.
std::optional<QueryFile> read_side_query(Keys& keys, const Scope& scope, const std::string& key) {
  const std::string name = keys.text_or(key, "");
  if (name.empty()) return std::nullopt;
  return read_header(query_path(scope.folder, key, name, keys.location()), scope);
}

std::vector<ValueSpec> read_values(Keys& outer, const Scope& scope) {
  std::vector<ValueSpec> values;
  const Json* array = outer.find_array("value");
  if (array == nullptr) return values;
  for (const Json& table : *array) {
    Keys keys(table, outer.location() + ", value");
    ValueSpec value;
    value.name = keys.text("name");
    keys.set_location(keys.location() + " " + quote(value.name));
    value.sql = scope.tables.expand(keys.text("sql"), keys.location());
    value.columns = parse_columns(keys.find_table("columns"), keys.location());
    keys.finish();
    values.push_back(std::move(value));
  }
  return values;
}

Axis read_axis(Keys& keys, const std::string& letter, bool with_scale) {
  Axis axis;
  axis.title = keys.text_or(letter + "_title", "");
  axis.unit = keys.text_or(letter + "_unit", "");
  if (with_scale) axis.scale = static_cast<Scale>(keys.word_or(letter + "_scale", {"linear", "log", "auto"}, 0));
  return axis;
}

void read_reference_line(ChartSpec& chart, Keys& keys) {
  chart.reference_line = keys.text_or("reference_line", "");
  chart.reference_line_title = keys.text_or("reference_line_title", "");
  if (chart.reference_line.empty() && chart.reference_line_title.empty()) return;
  if (chart.kind != ChartKind::kLine)
    keys.fail("keys 'reference_line' and 'reference_line_title' are only allowed for charts of kind 'line'");
  if (chart.reference_line_title.empty())
    keys.fail("key 'reference_line' needs key 'reference_line_title', the label of the dashed line");
  if (chart.reference_line.empty())
    keys.fail("key 'reference_line_title' needs key 'reference_line', the column with the value of the dashed line");
}

void read_points(ChartSpec& chart, Keys& keys) {
  chart.x = keys.text("x");
  chart.y = keys.text("y");
  chart.error = keys.text_or("error", "");
  chart.series = keys.text_or("series", "");
  chart.identity = keys.text_or("identity", "");
  chart.panel = keys.text_or("panel", "");
  chart.x_axis = read_axis(keys, "x", true);
  chart.y_axis = read_axis(keys, "y", true);
  if (chart.kind == ChartKind::kBar) chart.stacked = keys.flag_or("stacked", false);
  if (chart.stacked && (!chart.error.empty() || chart.y_axis.scale != Scale::kLinear))
    keys.fail("'stacked' bars do not support 'error' and require a linear 'y_scale'");
}

void require_empty(const QueryFile& side, const std::string& rows) {
  if (side.empty.empty())
    throw UsageError(side.name + ": the header comment lacks 'empty': -- empty: sentence to print if there are no " +
                     rows);
}

void read_areas(ChartSpec& chart, Keys& keys, const Scope& scope) {
  chart.x = keys.text("x");
  chart.y = keys.text_or("y", "");
  chart.series = keys.text_or("series", "");
  if (chart.y.empty() && !chart.series.empty())
    keys.fail("key 'series' needs key 'y'; without it every column is a series");
  chart.x_axis = read_axis(keys, "x", false);
  chart.y_axis = read_axis(keys, "y", false);
  chart.x_axis.nanoseconds = chart.x.ends_with("_ns") && chart.x_axis.unit.empty();
  chart.bands = read_side_query(keys, scope, "bands");
  chart.blocks = read_side_query(keys, scope, "blocks");
  chart.segments = read_side_query(keys, scope, "segments");
  chart.events = read_side_query(keys, scope, "events");
  chart.counters = read_side_query(keys, scope, "counters");
  if (chart.blocks && !chart.x_axis.nanoseconds)
    keys.fail("key 'blocks' requires an 'x' column in nanoseconds (name ending in _ns) and no 'x_unit'");
  if (!chart.segments) return;
  if (!chart.blocks) keys.fail("key 'segments' requires key 'blocks'");
  require_empty(*chart.segments, "segments");
}

void read_roofs(ChartSpec& chart, Keys& keys, const Scope& scope) {
  chart.series = "class";
  keys.text("roofs");
  chart.roofs = read_side_query(keys, scope, "roofs");
  require_empty(*chart.roofs, "roofs");
}

ChartSpec read_chart(const Json& table, const Scope& scope, const std::string& section_location) {
  Keys keys(table, section_location + ", chart");
  ChartSpec chart;
  chart.query = read_query(keys, scope);
  if (chart.query.pivot) throw UsageError(chart.query.name + ": 'pivot' is only allowed for tables");
  keys.text("kind");
  chart.kind = static_cast<ChartKind>(keys.word_or("kind", {"line", "bar", "area", "timeline", "roofline"}, 0));
  chart.split = keys.text_or("split", "");
  read_reference_line(chart, keys);
  if (chart.kind == ChartKind::kTimeline) {
    chart.panel = keys.text_or("panel", "");
    chart.counters = read_side_query(keys, scope, "counters");
  }
  if (chart.kind == ChartKind::kRoofline) read_roofs(chart, keys, scope);
  if (chart.kind == ChartKind::kArea) read_areas(chart, keys, scope);
  if (chart.kind == ChartKind::kLine || chart.kind == ChartKind::kBar) read_points(chart, keys);
  keys.finish();
  return chart;
}

void read_content(SectionSpec& section, Keys& keys, const Scope& scope) {
  section.question = keys.text_or("question", "");
  section.formula = keys.text_or("formula", "");
  section.explanation = keys.text_or("explanation", "");
  section.source = keys.text_or("source", "");
  if (section.explanation.empty() != section.source.empty())
    keys.fail("keys 'explanation' and 'source' need each other");
  if (keys.find("detail") != nullptr) section.detail = keys.texts("detail");
  section.prose.text = keys.text_or("prose", "");
  section.prose.values = read_values(keys, scope);
  if (const Json* tables = keys.find_array("table")) {
    for (const Json& each : *tables) {
      Keys table_keys(each, keys.location() + ", table");
      section.tables.push_back(read_query(table_keys, scope));
      table_keys.finish();
    }
  }
  if (const Json* lists = keys.find_array("list"))
    for (const Json& each : *lists) section.lists.push_back(read_list(each, scope, keys.location()));
  if (const Json* charts = keys.find_array("chart")) {
    for (const Json& each : *charts) section.charts.push_back(read_chart(each, scope, keys.location()));
  }
}

SectionSpec read_section(const Json& table, const Scope& outer, const std::string& file, std::size_t number) {
  Keys keys(table, fmt::format("{}: section {}", file, number));
  SectionSpec section;
  section.heading = outer.is_output ? keys.text_or("heading", "") : keys.text("heading");
  section.joined = keys.flag_or("joined", false);
  keys.set_location(fmt::format("{}: section {}", file, quote(section.heading)));
  section.level = static_cast<int>(keys.integer_or("level", 1));
  if (section.level != 1 && section.level != 2) keys.reject("level", "1 or 2");
  const std::string content = keys.text_or("content", "");
  if (content.empty()) {
    Scope scope = outer;
    scope.tables.add(keys, scope.folder);
    read_content(section, keys, scope);
    scope.tables.check_used();
  } else {
    const fs::path path = outer.folder / toml_path("content", content, keys.location());
    const Json shared = read_toml(path);
    Keys shared_keys(shared, path.string());
    Scope scope{path.parent_path(), {}, outer.is_output};
    scope.tables.add(shared_keys, scope.folder);
    scope.tables.replace(keys, outer.folder);
    read_content(section, shared_keys, scope);
    scope.tables.check_used();
    shared_keys.finish();
  }
  keys.finish();
  return section;
}

void read_sections(ReportDefinition& report, Keys& keys, const Scope& scope, const fs::path& file, bool in_appendix) {
  const Json* sections = keys.find_array("section");
  if (sections == nullptr || sections->empty()) throw UsageError(file.string() + ": needs at least one [[section]]");
  for (std::size_t i = 0; i < sections->size(); ++i) {
    report.sections.push_back(read_section(sections->at(i), scope, file.string(), i + 1));
    report.sections.back().in_appendix = in_appendix;
  }
}

// A reference to a section that was renamed would otherwise be omitted silently, as one to a section without data.
void check_details(const ReportDefinition& report) {
  std::vector<std::string> headings;
  for (const SectionSpec& section : report.sections) headings.push_back(section.heading);
  for (const SectionSpec& section : report.sections)
    for (const std::string& name : section.detail)
      if (std::find(headings.begin(), headings.end(), name) == headings.end())
        throw UsageError(fmt::format("{}: section {}: key 'detail' names the section {}, which does not exist{}",
                                     report.file, quote(section.heading), quote(name), suggestion(name, headings)));
}

}  // namespace

ReportDefinition read_output_definition(const fs::path& file) {
  const Json table = read_toml(file);
  ReportDefinition output;
  output.file = file.string();
  Keys keys(table, output.file);
  Scope scope{file.parent_path(), {}, true};
  scope.tables.add(keys, scope.folder);
  read_sections(output, keys, scope, file, false);
  scope.tables.check_used();
  keys.finish();
  return output;
}

ReportDefinition read_definition(const fs::path& folder) {
  const fs::path file = folder / "report.toml";
  const Json table = read_toml(file);
  ReportDefinition report;
  report.file = file.string();
  Keys keys(table, report.file);
  Scope scope{folder, {}, false};
  scope.tables.add(keys, folder);
  report.title = keys.text("title");
  report.suite = keys.text_or("suite", "");
  report.profile = keys.text_or("profile", "");
  if (!report.profile.empty() && report.suite.empty()) keys.fail("key 'profile' requires key 'suite'");
  report.compares_runs = keys.flag_or("compares_runs", false);
  report.every_run = keys.flag_or("every_run", false);
  report.shows_commits = keys.flag_or("shows_commits", false);
  report.hides_history = keys.flag_or("hides_history", false);
  report.summary.text = keys.text_or("summary", "");
  report.summary.values = read_values(keys, scope);
  if (const Json* banners = keys.find_array("banner")) {
    for (const Json& each : *banners) {
      Keys banner_keys(each, report.file + ": banner");
      ProseSpec banner;
      banner.text = banner_keys.text("prose");
      banner.values = read_values(banner_keys, scope);
      banner_keys.finish();
      report.banners.push_back(std::move(banner));
    }
  }
  read_sections(report, keys, scope, file, false);
  scope.tables.check_used();
  if (const std::string appendix = keys.text_or("appendix", ""); !appendix.empty()) {
    const fs::path path = folder / toml_path("appendix", appendix, report.file);
    const Json shared = read_toml(path);
    Keys shared_keys(shared, path.string());
    Scope shared_scope{path.parent_path(), {}, false};
    shared_scope.tables.add(shared_keys, shared_scope.folder);
    read_sections(report, shared_keys, shared_scope, path, true);
    shared_scope.tables.check_used();
    shared_keys.finish();
  }
  keys.finish();
  check_details(report);
  return report;
}

}  // namespace kymo::report
