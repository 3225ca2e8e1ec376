// SPDX-License-Identifier: Apache-2.0
#include "report/interactive.hpp"

#include <algorithm>

#include "report/area.hpp"
#include "report/number.hpp"
#include "report/palette.hpp"
#include "report/used_texts.hpp"

namespace kymo::report {
namespace {

void write_palette(JsonText& json) {
  json.key("palette");
  json.open('[');
  for (const Shade& shade : kPalette) {
    json.open('[');
    json.value(shade.light);
    json.value(shade.dark);
    json.close(']');
  }
  json.close(']');
}

std::int64_t whole(double value) { return static_cast<std::int64_t>(value); }

void write_track(JsonText& json, const Timeline& timeline, const TimelineTrack& track, std::int64_t origin_ns,
                 UsedTexts& texts) {
  std::vector<std::int64_t> starts, lengths, labels, classes, details, scopes, phases, steps, events, launches, calls;
  const auto number = [&texts](event::TextId text) { return text == event::kNoText ? -1 : texts.number(text); };
  const auto event = [](std::uint32_t each) { return each == TimelineBar::kNoEvent ? -1 : std::int64_t{each}; };
  std::int64_t previous = origin_ns;
  for (const std::uint32_t i : track.bars) {
    const TimelineBar& bar = timeline.bars[i];
    starts.push_back(whole(span_ns(previous, bar.start_ns)));
    lengths.push_back(whole(span_ns(bar.start_ns, bar.end_ns)));
    labels.push_back(texts.number(bar.label));
    classes.push_back(bar.bar_class);
    details.push_back(number(bar.detail));
    scopes.push_back(number(bar.scope));
    phases.push_back(number(bar.phase));
    steps.push_back(bar.step == TimelineBar::kNoStep ? -1 : std::max<std::int64_t>(bar.step, -1));
    events.push_back(event(bar.event));
    launches.push_back(event(bar.launched_by));
    calls.push_back(event(bar.called_by));
    previous = bar.start_ns;
  }
  const auto column = [&json](const char* name, std::vector<std::int64_t>& values) {
    if (std::all_of(values.begin(), values.end(), [](std::int64_t each) { return each < 0; })) values.clear();
    json.list(name, values);
  };
  json.open('{');
  json.field("lane", std::int64_t{track.lane});
  json.field("row", std::int64_t{track.row});
  json.list("start", starts);
  json.list("length", lengths);
  json.list("label", labels);
  json.list("class", classes);
  column("detail", details);
  column("scope", scopes);
  column("phase", phases);
  column("step", steps);
  column("event", events);
  column("launchedBy", launches);
  column("calledBy", calls);
  json.close('}');
}

void write_recorder(JsonText& json, const std::string& run, const std::optional<std::int64_t>& rank) {
  if (!run.empty()) json.field("run", run);
  if (rank) json.field("rank", *rank);
}

void write_counter(JsonText& json, const CounterLane& counter, std::int64_t origin_ns) {
  std::vector<std::int64_t> times;
  std::vector<double> values;
  std::int64_t previous = origin_ns;
  for (const auto& [time_ns, value] : counter.values) {
    times.push_back(whole(span_ns(previous, time_ns)));
    values.push_back(value);
    previous = time_ns;
  }
  json.open('{');
  json.field("name", counter.name);
  json.field("unit", counter.unit);
  write_recorder(json, counter.run, counter.rank);
  json.list("x", times);
  json.list("y", values);
  json.close('}');
}

void write_attachments(JsonText& json, const Chart& chart) {
  json.key("files");
  json.open('[');
  for (const Attachment& each : chart.attachments) {
    json.open('{');
    json.field("button", each.button);
    json.field("file", each.file);
    if (!each.source.run.empty()) json.field("run", each.source.run);
    json.field("embedded", !each.content.empty());
    json.field("command", each.command);
    json.close('}');
  }
  json.close(']');
}

// Members of the object that is open.
void write_timeline(JsonText& json, const Timeline& every, std::optional<std::int64_t> origin = std::nullopt) {
  Timeline timeline = every;
  keep_longest(timeline.bars, kMaxInteractiveBars);
  const TimelineLayout layout = lay_out(timeline, kMaxInteractiveRows);
  const std::int64_t origin_ns = origin.value_or(origin_of(timeline));
  UsedTexts texts(timeline.texts);
  json.field("origin", std::to_string(origin_ns));
  if (timeline.panels) json.field("panels", true);
  write_palette(json);
  json.list("classes", timeline.classes);
  std::vector<std::int64_t> colours;
  for (std::size_t i = 0; i < timeline.classes.size(); ++i)
    colours.push_back(static_cast<std::int64_t>(colour_of_class(timeline, i)));
  json.list("colours", colours);
  json.key("lanes");
  json.open('[');
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    json.open('{');
    json.field("name", timeline.lanes[i].name);
    json.field("group", timeline.lanes[i].group);
    if (timeline.panels) json.field("panel", timeline.lanes[i].panel);
    write_recorder(json, timeline.lanes[i].run, timeline.lanes[i].rank);
    json.field("rows", std::int64_t{layout.rows[i]});
    json.close('}');
  }
  json.close(']');
  json.key("tracks");
  json.open('[');
  for (const TimelineTrack& track : layout.tracks) write_track(json, timeline, track, origin_ns, texts);
  json.close(']');
  json.key("counters");
  json.open('[');
  for (const CounterLane& counter : timeline.counters) write_counter(json, counter, origin_ns);
  json.close(']');
  json.list("texts", texts.used());
}

std::string timeline_rows(const Chart& chart) {
  JsonText json;
  json.open('{');
  json.field("kind", "timeline");
  json.field("name", chart.name);
  json.field("caption", chart.caption);
  write_timeline(json, chart.timeline);
  write_attachments(json, chart);
  json.close('}');
  return json.text();
}

std::vector<double> differences(const std::vector<double>& values, double origin) {
  std::vector<double> out;
  double previous = origin;
  for (const double value : values) {
    out.push_back(value - previous);
    previous = value;
  }
  return out;
}

std::string area_rows(const Chart& chart) {
  const AreaLayers layers = max_of_intervals(area_layers(chart), kMaxInteractivePositions);
  const double origin = chart.x.nanoseconds ? layers.x.front() : 0;
  JsonText json;
  json.open('{');
  json.field("kind", "area");
  json.field("name", chart.name);
  json.field("caption", chart.caption);
  write_palette(json);
  json.field("nanoseconds", chart.x.nanoseconds);
  json.field("bytes", chart.y.bytes);
  json.field("xTitle", chart.x.title);
  json.field("xUnit", chart.x.unit);
  json.field("yTitle", chart.y.title);
  json.field("yUnit", chart.y.unit);
  json.list("x", differences(layers.x, origin));
  json.key("series");
  json.open('[');
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    json.open('{');
    json.field("name", chart.series[s].name);
    json.field("colour", static_cast<std::int64_t>(colour_of(chart, s)));
    // Most differences are zero, which compresses well. Those of bytes are exact.
    json.list(chart.y.bytes ? "changes" : "values",
              chart.y.bytes ? differences(layers.values[s], 0) : layers.values[s]);
    json.close('}');
  }
  json.close(']');
  json.key("bands");
  json.open('[');
  for (const Band& band : chart.bands) {
    json.open('{');
    json.field("label", band.label);
    json.field("start", band.start - origin);
    json.field("end", band.end - origin);
    json.close('}');
  }
  json.close(']');
  write_memory(json, chart, origin);
  if (!chart.timeline.bars.empty()) {
    json.key("events");
    json.open('{');
    write_timeline(json, chart.timeline, whole(origin));
    json.close('}');
  }
  write_attachments(json, chart);
  json.close('}');
  return json.text();
}

std::string counted(std::size_t count) { return grouped(std::to_string(count)); }

}  // namespace

bool is_interactive(const Chart& chart) { return chart.kind == ChartKind::kTimeline || chart.kind == ChartKind::kArea; }

std::string interactive_rows(const Chart& chart) {
  return chart.kind == ChartKind::kTimeline ? timeline_rows(chart) : area_rows(chart);
}

std::string interactive_notes(const Chart& chart) {
  std::string notes;
  if (chart.kind == ChartKind::kTimeline) {
    Timeline timeline = chart.timeline;
    const std::int64_t gone = keep_longest(timeline.bars, kMaxInteractiveBars);
    const std::int64_t deep = lay_out(timeline, kMaxInteractiveRows).too_deep;
    if (gone > 0)
      notes += " Only the " + counted(kMaxInteractiveBars) + " longest of " + counted(chart.timeline.bars.size()) +
               " bars are shown.";
    if (deep > 0) {
      notes += " Bars left out because they overlap at least " + counted(kMaxInteractiveRows) +
               " others: " + counted(static_cast<std::size_t>(deep)) + ".";
    }
    return notes;
  }
  if (chart.kind != ChartKind::kArea) return notes;
  const std::size_t rows = area_layers(chart).x.size();
  if (rows > kMaxInteractivePositions)
    notes += " Of " + counted(rows) + " positions, the maximum in each of " + counted(kMaxInteractivePositions) +
             " intervals is shown.";
  if (chart.memory.blocks.size() > kMaxInteractiveBlocks) {
    notes += " Of " + counted(chart.memory.blocks.size()) + " blocks, the " + counted(kMaxInteractiveBlocks) +
             " largest are shown individually and the others combined.";
  }
  return notes;
}

}  // namespace kymo::report
