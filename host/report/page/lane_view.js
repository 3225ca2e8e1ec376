// SPDX-License-Identifier: Apache-2.0
// Bars in lanes: what is drawn, and what is at a position.

import { AXIS, drawTimeAxis, element, FONT, pageColours, paletteOf, RIGHT_MARGIN, Y_MARGIN } from "./canvas.js";
import { Counter } from "./counters.js";
import { COUNTER, HIDDEN, Lanes, NAME_ROW, PANEL, ROW } from "./lanes.js";
import { Measure, RangeSelection } from "./measure.js";
import { Painter } from "./painter.js";
import { Range } from "./range.js";
import { Track } from "./track.js";
import { clamp, countText, durationText, firstAbove, firstAtLeast, timeTicks } from "./units.js";
import { View } from "./view.js";

const TALLEST = 640;
const MOST_CELLS = 4000;

export class LaneView extends View {
  // With `shared`, a range, the timeline is part of another chart.
  constructor(root, rows, shared) {
    const { tracks, counters, extents } = loaded(rows);
    const extent = extents.get(rows.lanes[0]?.run);
    super(
      root,
      shared || new Range(extent.first, extent.last, 20),
      rows.caption || "Events",
      "Search labels and details",
    );
    Object.assign(this, { rows, shared, tracks, counters, extents, selected: null, arrows: [], scroll: 0 });
    this.zero = rows.panels || shared ? "" : "the first event";
    this.lanes = new Lanes(rows.lanes, counters);
    this.selection = new RangeSelection(this);
    this.measure = new Measure(this);
    this.addLegend();
  }

  get laneTop() {
    return this.lanes.tops;
  }

  addLegend() {
    const colours = this.rows.palette.length;
    const legend = element("div", { className: "kymo-legend" });
    this.swatches = [];
    this.rows.classes.forEach((name, i) => {
      const swatch = element("i");
      const button = element("button", { type: "button", onclick: () => this.searchClass(i) }, swatch, name);
      button.setAttribute("aria-pressed", "false");
      if (i < colours * 3) legend.append(button);
      this.swatches.push({ swatch, button });
    });
    const hidden = this.rows.classes.length - colours * 3;
    if (hidden > 0) legend.append(element("span", { textContent: `and ${countText(hidden)} more` }));
    this.root.append(legend);
  }

  colourOf(kind) {
    return this.rows.colours[kind];
  }
  trackTop(track) {
    return this.plot.top + this.laneTop[track.lane] + track.row * ROW - this.scroll;
  }
  get content() {
    return this.lanes.height;
  }
  isVisible(top) {
    return top + ROW > this.plot.top && top < this.plot.top + this.plot.height;
  }
  scrolls() {
    return this.content > this.plot.height;
  }
  scrollBy(pixels) {
    this.scroll = clamp(this.scroll + pixels, 0, Math.max(0, this.content - this.plot.height));
    this.surface.request();
  }
  reset() {
    this.scroll = 0;
    this.range.reset();
  }

  // Draws the frame; returns statistics for tests.
  frame() {
    const began = performance.now();
    const height = Math.min(TALLEST, this.content + AXIS);
    const context = this.surface.begin(height);
    const ink = pageColours();
    const palette = paletteOf(this.rows.palette);
    for (const [i, { swatch }] of this.swatches.entries()) swatch.style.background = palette[this.colourOf(i)];
    const left = this.shared ? Y_MARGIN : this.marginWidth(context);
    this.plot = { left, top: 2, width: this.surface.width - left - RIGHT_MARGIN, height: height - AXIS };
    this.scroll = clamp(this.scroll, 0, Math.max(0, this.content - this.plot.height));
    drawTimeAxis(context, this.range, this.plot, ink, (low, high, target) => timeTicks(low, high, target, this.zero));
    const drawn = this.drawTracks(context, palette, ink);
    this.drawMargin(context, ink);
    this.drawScrollbar(context, ink);
    return { ...drawn, milliseconds: performance.now() - began };
  }

  marginWidth(context) {
    const { lines } = this.lanes;
    if (this.marginOf !== lines) {
      this.marginOf = lines;
      this.margin = Math.max(
        ...lines
          .filter((line) => !line.panel)
          .map((line) => context.measureText(line.text).width + (line.heading ? 12 : 22)),
        60,
      );
    }
    return Math.min(this.margin, 220, this.surface.width * 0.3);
  }

  drawTracks(context, palette, ink) {
    const { plot } = this;
    const visible = this.tracks.filter((track) => this.isVisible(this.trackTop(track)));
    // The visible rows share a budget of rectangles, so cells become wider with more rows.
    const cellPixels = Math.max(1, Math.ceil((visible.length * plot.width) / MOST_CELLS));
    const painter = new Painter(context, palette, this);
    context.save();
    context.beginPath();
    context.rect(plot.left, plot.top, plot.width, plot.height);
    context.clip();
    for (const track of visible) this.drawTrack(track, painter, cellPixels);
    this.counters.forEach((counter, i) => {
      const top = plot.top + this.lanes.counterTops[i] - this.scroll;
      if (top + COUNTER > plot.top && top < plot.top + plot.height) counter.draw(context, this, top, ink);
    });
    painter.drawLabels(ink);
    this.selection.draw(context, ink);
    this.drawArrows(context, ink);
    this.drawMarks(context, ink);
    this.measure.draw(context, ink);
    context.restore();
    return { rectangles: painter.rectangles, bars: painter.bars };
  }

  drawTrack(track, painter, cellPixels) {
    const { low, high, span } = this.range;
    const cell = (cellPixels * span) / this.plot.width;
    const top = this.trackTop(track);
    painter.startTrack(top + 1, ROW - 2);
    track.visit(
      low,
      high,
      cell,
      (i) => painter.bar(track, i, this.xAt(track.start[i]), this.xAt(track.end[i]), top),
      (from, to, number) => {
        const covered = (track.busy[to] - track.busy[from]) / cell;
        painter.group(track, from, to, this.plot.left + number * cellPixels, cellPixels, covered);
      },
    );
    painter.endTrack();
  }

  // Draws frames around the pinned bar and the current match.
  drawMarks(context, ink) {
    const mark = (at, colour) => {
      if (!at) return;
      const x = this.xAt(at.track.start[at.i]);
      const width = Math.max(3, this.xAt(at.track.end[at.i]) - x);
      context.strokeStyle = colour;
      context.lineWidth = 2;
      context.strokeRect(x - 1, this.trackTop(at.track), width + 2, ROW);
    };
    mark(this.currentMatch(), ink.accent);
    mark(this.selected, ink.ink);
  }

  // Lines from the selected bar to its launch and to what it started.
  drawArrows(context, ink) {
    context.strokeStyle = context.fillStyle = ink.ink;
    context.lineWidth = 1.2;
    for (const { from, to } of this.arrows) {
      const x0 = this.xAt(Math.min(from.track.end[from.i], to.track.start[to.i]));
      const x1 = this.xAt(to.track.start[to.i]);
      const y0 = this.trackTop(from.track) + ROW / 2;
      const y1 = this.trackTop(to.track) + ROW / 2;
      const bend = clamp((x1 - x0) / 2, 12, 60);
      context.beginPath();
      context.moveTo(x0, y0);
      context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 5, y1);
      context.stroke();
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(x1 - 6, y1 - 3.5);
      context.lineTo(x1 - 6, y1 + 3.5);
      context.fill();
    }
  }

  // Every lane in the height of the overview, drawn without gaps.
  paintOverview(context, left, width, height) {
    const palette = paletteOf(this.rows.palette);
    const shown = this.tracks.filter((track) => this.lanes.tops[track.lane] !== HIDDEN);
    const row = height / Math.max(1, shown.length);
    const { first, last } = this.range;
    const whole = {
      plot: { left, width },
      matches: null,
      rows: this.rows,
      colourOf: (kind) => this.colourOf(kind),
    };
    const painter = new Painter(context, palette, whole);
    const cell = (last - first) / Math.max(1, Math.min(width, MOST_CELLS / shown.length));
    const x = (time) => left + ((time - first) / (last - first)) * width;
    const cellPixels = (cell / (last - first)) * width;
    shown.forEach((track, number) => {
      painter.startTrack(number * row, Math.max(1, row - 0.5));
      track.visit(
        first,
        last,
        cell,
        (i) => painter.bar(track, i, x(track.start[i]), x(track.end[i]), 0),
        (from, to, at) =>
          painter.group(
            track,
            from,
            to,
            left + at * cellPixels,
            cellPixels,
            (track.busy[to] - track.busy[from]) / cell,
          ),
      );
      painter.endTrack();
    });
    context.globalAlpha = 1;
  }

  drawMargin(context, ink) {
    const { plot } = this;
    context.save();
    context.beginPath();
    context.rect(0, plot.top, this.surface.width, plot.height);
    context.clip();
    context.textAlign = "left";
    for (const line of this.lanes.lines) {
      const y = plot.top + line.y - this.scroll;
      if (line.heading || line.panel) {
        context.fillStyle = line.panel ? ink.raised : ink.rule;
        context.fillRect(0, plot.top + line.top - this.scroll, this.surface.width, line.panel ? PANEL - 4 : 1);
      }
      const lane = !line.heading && !line.panel;
      context.font = lane ? FONT : `600 ${FONT}`;
      context.fillStyle = lane ? ink.muted : ink.ink;
      const room = line.panel ? this.surface.width - 16 : plot.left - (lane ? 18 : 8);
      const rows = this.surface.wrapped(line.text, room, line.rows ?? 1);
      const top = y - ((rows.length - 1) * NAME_ROW) / 2;
      for (const [row, text] of rows.entries())
        context.fillText(text, lane ? 12 : line.panel ? 6 : 2, top + row * NAME_ROW);
    }
    context.restore();
  }

  drawScrollbar(context, ink) {
    const { plot } = this;
    if (!this.scrolls()) return;
    const size = Math.max(20, (plot.height * plot.height) / this.content);
    const thumb = (this.scroll / (this.content - plot.height)) * (plot.height - size);
    context.fillStyle = ink.muted;
    context.globalAlpha = 0.5;
    context.fillRect(this.surface.width - 5, plot.top + thumb, 4, size);
    context.globalAlpha = 1;
  }

  // The bar at a position, or the longest of those that share its pixel.
  barAt(x, y) {
    if (x < this.plot.left || y < this.plot.top || y > this.plot.top + this.plot.height) return null;
    const track = this.tracks.find((each) => y >= this.trackTop(each) && y < this.trackTop(each) + ROW);
    if (!track) return null;
    const pixel = this.range.span / this.plot.width;
    const from = firstAtLeast(track.end, this.timeAt(x) - pixel * 1.5);
    const to = firstAbove(track.start, this.timeAt(x) + pixel * 1.5, from);
    return from < to ? { track, i: track.longestOf(from, to), neighbours: to - from - 1 } : null;
  }

  facts({ track, i, neighbours }) {
    const { texts, classes, lanes } = this.rows;
    const lane = lanes[track.lane];
    const label = texts[track.label[i]];
    const detail = track.detail[i] >= 0 ? texts[track.detail[i]] : "";
    const lines = [
      ["", label],
      ["duration", durationText(track.length(i))],
      ["start", durationText(track.start[i]) + (this.zero && ` after ${this.zero}`)],
    ];
    if (track.step[i] >= 0) lines.push(["step", String(track.step[i])]);
    if (track.phase[i] >= 0 && texts[track.phase[i]]) lines.push(["phase", texts[track.phase[i]]]);
    if (track.scope[i] >= 0 && texts[track.scope[i]] && texts[track.scope[i]] !== label)
      lines.push(["module", texts[track.scope[i]]]);
    if (classes[track.kind[i]] !== label) lines.push(["class", classes[track.kind[i]]]);
    lines.push(["lane", [this.lanes.titleOf(lane), lane.group, lane.name].filter(Boolean).join(": ")]);
    if (detail && detail !== label) lines.push(["detail", detail]);
    if (neighbours > 2) lines.push(["", `and ${countText(neighbours)} shorter bars; zoom in to see them`]);
    return lines;
  }
  counterFacts(y, time) {
    const i = this.lanes.counterTops.findIndex((top) => {
      const at = this.plot.top + top - this.scroll;
      return y >= at && y < at + COUNTER;
    });
    const value = i < 0 ? undefined : this.counters[i].at(time);
    if (value === undefined) return null;
    return [
      ["", this.counters[i].name],
      ["value", this.counters[i].text(value)],
      ["at", durationText(time)],
    ];
  }
}

// Tracks and counters, with the first event of each run at zero, and the time of its last one.
function loaded(rows) {
  const runs = new Map();
  for (const each of rows.tracks) {
    const { run } = rows.lanes[each.lane];
    const known = runs.get(run) || { low: Infinity, high: 0 };
    let start = 0;
    each.start.forEach((difference, i) => {
      start += difference;
      known.high = Math.max(known.high, start + each.length[i]);
    });
    known.low = Math.min(known.low, each.start[0]);
    runs.set(run, known);
  }
  const shift = (run) => (runs.size > 1 ? runs.get(run)?.low || 0 : 0);
  const tracks = rows.tracks.map((each) => new Track(each, shift(rows.lanes[each.lane].run)));
  const counters = (rows.counters || []).map((each) => new Counter(each, shift(each.run)));
  const extents = new Map(
    [...runs].map(([run, { high }]) => [run, { first: 0, last: Math.max(1, high - shift(run)) }]),
  );
  return { tracks, counters, extents };
}
