// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "report/build.hpp"
#include "sample_database.hpp"
#include "sample_document.hpp"

namespace kymo::report::testing {

ResultCell cell(std::int64_t value) { return {ResultCell::Type::kInteger, value, 0, ""}; }
ResultCell cell(double value) { return {ResultCell::Type::kReal, 0, value, ""}; }
ResultCell cell(const std::string& text) { return {ResultCell::Type::kText, 0, 0, text}; }

TimelineBar bar(std::int64_t start_ns, std::int64_t end_ns, std::uint32_t lane, std::uint32_t bar_class) {
  TimelineBar made;
  made.start_ns = start_ns;
  made.end_ns = end_ns;
  made.lane = lane;
  made.bar_class = bar_class;
  return made;
}

Timeline timeline_of(const std::vector<TimelineBar>& bars) {
  Timeline timeline;
  timeline.bars = bars;
  for (const TimelineBar& each : bars) {
    while (timeline.lanes.size() <= each.lane)
      timeline.lanes.push_back({"lane " + std::to_string(timeline.lanes.size()), ""});
    while (timeline.classes.size() <= each.bar_class)
      timeline.classes.push_back("class " + std::to_string(timeline.classes.size()));
  }
  return timeline;
}

Chart sample_timeline() {
  QueryFile query;
  query.name = "timeline.sql";
  query.caption = "A step.";
  const Result result{{"lane", "start_ns", "end_ns", "label", "class", "detail", "group"},
                      {row("stream 7", 1'000'000, 1'900'000, "gemm", "matmul", "grid 8", "GPU"),
                       row("stream 7", 1'900'000, 2'000'000, "softmax", "softmax", "grid 4", "GPU"),
                       row("phases", 1'000'000, 1'950'000, "forward", "phase", nullptr, nullptr),
                       row("stream 9", 1'500'000, 1'600'000, "memcpy", "copy", "4 KiB", "GPU"),
                       row("scopes", 1'000'000, 1'950'000, "block", "scope", nullptr, nullptr),
                       row("scopes", 1'100'000, 1'500'000, "attention", "scope", nullptr, nullptr),
                       row("stream 7", 1'700'000, 1'700'000, "no length", "softmax", nullptr, "GPU")}};
  Chart chart = *build_timeline(query, result);
  chart.name = "timeline";
  return chart;
}

Chart sample_panels() {
  QueryFile query;
  query.name = "panels.sql";
  query.caption = "Two steps.";
  const Result result{{"title", "lane", "start_ns", "end_ns", "label", "class", "group"},
                      {row("after: 2 ms", "phases", 200'000, 1'200'000, "backward", "phase", "GPU"),
                       row("after: 2 ms", "streams", 1'200'000, 2'000'000, "all_reduce", "communication", "GPU"),
                       row("beside: 1 ms", "streams", 300'000, 1'000'000, "all_reduce", "communication", "GPU"),
                       row("beside: 1 ms", "phases", 100'000, 1'000'000, "backward", "phase", "GPU"),
                       row("after: 2 ms", "host", 0, 100'000, "launch", "phase", "host")}};
  Chart chart = *build_timeline(query, result, "title");
  chart.name = "panels";
  return chart;
}

Chart sample_runs() {
  QueryFile query;
  query.name = "runs.sql";
  query.caption = "Steps.";
  QueryFile counters;
  counters.name = "counters.sql";
  const Result result{
      {"run", "run_id", "pass", "rank", "step", "lane", "start_ns", "end_ns", "label", "class", "group", "scope",
       "event", "launched_by"},
      {row("train", 7, "trace", 0, 3, "calls", 100, 110, "launch", "API call", "host", nullptr, "call 1", nullptr),
       row("train", 7, "trace", 1, 3, "calls", 101, 111, "launch", "API call", "host", nullptr, "call 1", nullptr),
       row("train", 7, "trace", 0, 3, "stream 7", 120, 150, "gemm", "matmul", "GPU", "block", nullptr, "call 1"),
       row("train", 7, "trace", 1, 3, "stream 7", 125, 155, "gemm", "matmul", "GPU", "block", nullptr, "call 1"),
       row("train", 7, "trace", 0, 4, "stream 7", 220, 250, "softmax", "softmax", "GPU", "block", nullptr, "call 2"),
       row("infer", 8, "trace", 0, 1, "stream 7", 500, 600, "gemm", "matmul", "GPU", nullptr, nullptr, nullptr),
       row("infer", 8, "trace", 0, 1, "calls", 490, 495, "launch", "API call", "host", nullptr, nullptr, nullptr)}};
  const Result readings{{"name", "unit", "time_ns", "value", "run", "rank"},
                        {row("power", "W", 300, 310.0, "train", 0), row("power", "W", 100, 300.5, "train", 0),
                         row("power", "W", 400, nullptr, "train", 0)}};
  Chart chart = *build_timeline(query, result, "", {&counters, &readings});
  chart.name = "runs";
  return chart;
}

Chart sample_memory() {
  ChartSpec spec;
  spec.query.name = "memory.sql";
  spec.query.caption = "Memory.";
  for (const char* name : {"weights", "activations"}) spec.query.columns[name].format.kind = NumberFormat::Kind::kBytes;
  spec.kind = ChartKind::kArea;
  spec.x = "time_ns";
  spec.x_axis.nanoseconds = true;
  spec.y_axis.title = "memory";
  spec.bands = spec.blocks = QueryFile{};
  spec.bands->name = "bands.sql";
  spec.blocks->name = "blocks.sql";
  const std::int64_t mib = 1 << 20;
  const Result points{
      {"time_ns", "weights", "activations"},
      {row(5'000, 4 * mib, 0), row(6'000, nullptr, 2 * mib), row(8'000, 4 * mib, 6 * mib), row(9'000, 4 * mib, 0)}};
  const Result bands{{"label", "start", "end"}, {row("forward", 6'000, 8'000), row("backward", 8'000, 9'000)}};
  const Result blocks{{"start_ns", "end_ns", "bytes", "label", "category", "detail"},
                      {row(5'000, nullptr, 4 * mib, "embedding", "weights", "made at start"),
                       row(6'000, 9'000, 2 * mib, "scores", "activations", nullptr),
                       row(8'000, 9'000, 4 * mib, "softmax", "activations", nullptr)}};
  Chart chart = *build_area(spec, {points, &bands, &blocks});
  chart.name = "memory";
  return chart;
}

Chart roofline_of(const std::vector<std::vector<ResultCell>>& marks,
                  const std::vector<std::vector<ResultCell>>& roofs) {
  ChartSpec spec;
  spec.query.name = "roofline.sql";
  spec.query.caption = "Operators.";
  spec.kind = ChartKind::kRoofline;
  spec.roofs = QueryFile{};
  spec.roofs->name = "roofs.sql";
  Chart chart = *build_roofline(spec, {{"label", "class", "flops", "bytes", "ms", "detail"}, marks},
                                {{"label", "kind", "rate"}, roofs});
  chart.name = "roofline";
  return chart;
}

Chart sample_roofline() {
  return roofline_of(
      {row("add", "elementwise", 1e6, 12e6, 2.0, "f32"), row("mm, head", "matmul", 1e9, 2e7, 20.0, nullptr),
       row("copy", "copy", 0, 8e6, 1.0, "f32"), row("scale", "unknown", nullptr, nullptr, 0.5, nullptr)},
      {row("memory", "memory", 1e10), row("fp32", "compute", 1e11)});
}

Document hostile_timelines() {
  Document document;
  document.title = "Hostile";
  document.sections.push_back({"Charts", 1, {}});
  QueryFile query;
  Result events{{"lane", "start_ns", "end_ns", "label", "class", "detail", "group"}, {}};
  Chart memory = sample_memory();
  memory.series.resize(1);
  memory.bands.clear();
  memory.memory.blocks.clear();
  std::vector<std::vector<ResultCell>> marks, roofs;
  std::int64_t time = 0;
  for (const std::string& name : hostile_names()) {
    marks.push_back(row(name, name, 1000 * time, 50 + time, 1 + time, name));
    roofs.push_back(row(name, "compute", 1e9 * static_cast<double>(time + 1)));
    events.rows.push_back(row(name, time, time + 1'000, name, name, name, name));
    memory.series.push_back({name, memory.series[0].points});
    memory.bands.push_back({name, 5'000.0 + static_cast<double>(time) / 10, 5'050.0 + static_cast<double>(time) / 10});
    const event::TextId text = memory.memory.texts.intern(name);
    memory.memory.blocks.push_back({5'000 + time / 10, std::nullopt, 1000 + time, text, text, text});
    query.caption = memory.caption = memory.x.title = memory.y.title = name;
    time += 1'000;
  }
  Chart timeline = *build_timeline(query, events);
  timeline.name = "hostile-timeline";
  memory.name = "hostile-memory";
  Chart panels = *build_timeline(query, events, "label");
  panels.name = "hostile-panels";
  Chart roofline = roofline_of(marks, roofs);
  roofline.caption += query.caption;
  document.sections[0].blocks = {timeline, memory, panels, roofline};
  return document;
}

}  // namespace kymo::report::testing
