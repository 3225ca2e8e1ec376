// SPDX-License-Identifier: Apache-2.0
// Stacked curves; each value is held until the next position.

import { AreaWords, drawBands, drawValueAxis, plotIn } from "./area_axes.js";
import { Blocks } from "./blocks.js";
import { BlocksView } from "./blocks_view.js";
import { drawTimeAxis, element, pageColours, paletteOf } from "./canvas.js";
import { AxisSwitch, EventAxis } from "./event_axis.js";
import { Overview } from "./overview.js";
import { Range } from "./range.js";
import { segmentsBelow } from "./segments_view.js";
import { TimelineView } from "./timeline.js";
import { addHelp } from "./toolbar.js";
import { firstAbove, summed } from "./units.js";
import { View } from "./view.js";

const AREA_HEIGHT = 330;

class AreaView extends View {
  constructor(root, rows, range) {
    super(root, range, rows.caption, null);
    this.rows = rows;
    this.words = new AreaWords(rows);
    this.times = this.x = summed(rows.x);
    this.values = rows.series.map((series) =>
      series.changes ? summed(series.changes) : Float64Array.from(series.values),
    );
    this.total = Float64Array.from(this.x, (_, i) => this.values.reduce((sum, values) => sum + values[i], 0));
    this.highest = (this.total.reduce((best, each) => Math.max(best, each), 0) || 1) * 1.03;
    const legend = element("div", { className: "kymo-legend" });
    this.swatches = rows.series.map((series) => {
      const swatch = element("i");
      legend.append(element("span", {}, swatch, series.name));
      return swatch;
    });
    root.append(legend);
    this.peak = this.total.reduce((best, each, i) => (each > this.total[best] ? i : best), 0);
    this.overview = new Overview(
      this,
      "Overview",
      (...place) => this.paintOverview(...place),
      () => this.words.axis !== null,
    );
  }
  useAxis(axis) {
    this.words.axis = axis;
    this.x = axis ? this.times.map((time) => axis.indexOf(time)) : this.times;
    this.tooltip.hide();
    this.surface.request();
  }
  paintOverview(context, left, width, height) {
    const { first, last } = this.range;
    const palette = paletteOf(this.rows.palette);
    const plot = { left, top: 2, width, height: height - 2 };
    const chosen = this.columns(Math.floor(width), first, last);
    this.drawSeries(context, chosen, palette, plot);
  }

  // The row shown in each pixel column: the one with the highest sum, so that no peak is missed. -1 before the first
  // row.
  columns(width = this.plot.width, low = this.range.low, high = this.range.high) {
    const count = Math.max(1, Math.floor(width));
    const chosen = new Int32Array(count).fill(-1);
    const step = (high - low) / count;
    let next = firstAbove(this.x, low);
    for (let column = 0; column < count; ++column) {
      let best = next - 1;
      const end = low + step * (column + 1);
      for (; next < this.x.length && this.x[next] <= end; ++next)
        if (best < 0 || this.total[next] > this.total[best]) best = next;
      const ended = best === this.x.length - 1 && this.x[best] < end - step;
      chosen[column] = ended ? -1 : best;
    }
    return chosen;
  }

  colourOf(series) {
    return this.rows.series[series].colour ?? series;
  }
  frame() {
    const began = performance.now();
    const context = this.surface.begin(AREA_HEIGHT);
    const ink = pageColours();
    const palette = paletteOf(this.rows.palette);
    for (const [i, swatch] of this.swatches.entries())
      swatch.style.background = palette[this.colourOf(i) % palette.length];
    this.plot = plotIn(this.surface, AREA_HEIGHT, this.rows.bands);
    drawBands(context, this.surface, this, this.words.bands(), ink);
    drawValueAxis(context, this.plot, 0, this.highest, ink, this.rows);
    drawTimeAxis(context, this.range, this.plot, ink, (low, high, target) => this.words.ticks(low, high, target));
    const chosen = this.columns();
    this.drawSeries(context, chosen, palette);
    this.drawMarked(context, ink);
    this.drawCursor(context, ink);
    this.chosen = chosen;
    return { columns: chosen.length, milliseconds: performance.now() - began };
  }

  drawSeries(context, chosen, palette, plot = this.plot) {
    const floor = new Float64Array(chosen.length);
    this.values.forEach((values, s) => {
      const ceiling = Float64Array.from(chosen, (row, column) => floor[column] + (row < 0 ? 0 : values[row]));
      context.fillStyle = palette[this.colourOf(s) % palette.length];
      context.globalAlpha = 0.88;
      context.beginPath();
      this.trace(context, ceiling, false, plot);
      this.trace(context, floor, true, plot);
      context.fill();
      floor.set(ceiling);
    });
    context.globalAlpha = 1;
  }

  // Draws a step line with one step per column; corners only where the value changes.
  trace(context, heights, backwards, plot) {
    const { highest } = this;
    const y = (value) => plot.top + plot.height * (1 - value / highest);
    const count = heights.length;
    const width = plot.width / count;
    for (let step = 0; step < count; ++step) {
      const column = backwards ? count - 1 - step : step;
      const inside =
        step > 0 &&
        step < count - 1 &&
        heights[column] === heights[column - 1] &&
        heights[column] === heights[column + 1];
      if (inside) continue;
      const from = plot.left + (backwards ? column + 1 : column) * width;
      context.lineTo(from, y(heights[column]));
      context.lineTo(from + (backwards ? -width : width), y(heights[column]));
    }
  }

  // Marks a time; undefined: none.
  markTime(time) {
    this.marked = time;
    this.surface.request();
  }
  drawMarked(context, ink) {
    if (this.marked === undefined) return;
    const x = this.xAt(this.words.axis ? this.words.axis.indexOf(this.marked) : this.marked);
    if (x < this.plot.left || x > this.plot.left + this.plot.width) return;
    context.fillStyle = ink.accent;
    context.fillRect(x - 0.75, this.plot.top, 1.5, this.plot.height);
  }
  drawCursor(context, ink) {
    if (!this.pointer || this.pointer.x < this.plot.left) return;
    context.fillStyle = ink.ink;
    context.fillRect(this.pointer.x, this.plot.top, 1, this.plot.height);
  }

  // The row shown at a position of the picture, or -1.
  rowAt(x) {
    const column = Math.floor(((x - this.plot.left) / this.plot.width) * this.chosen.length);
    return column >= 0 && column < this.chosen.length ? this.chosen[column] : -1;
  }

  facts(row) {
    const lines = [["", this.words.position(this.times[row])]];
    const band = this.words.bandAt(this.x[row]);
    if (band) lines.push(["in", band]);
    for (let s = this.values.length - 1; s >= 0; --s)
      lines.push([this.rows.series[s].name, this.words.value(this.values[s][row])]);
    if (this.values.length > 1) lines.push(["sum", this.words.value(this.total[row])]);
    return lines;
  }

  hover(x, y) {
    this.pointer = { x, y };
    if (!this.chosen) this.frame();
    const row = this.rowAt(x);
    if (row >= 0) this.tooltip.show(this.facts(row), x, y, this.plot.top + this.plot.height);
    else this.tooltip.hide();
    const at = this.timeAt(x);
    this.onhover?.(this.words.axis ? this.words.axis.timeOf(at) : at);
    this.surface.request();
  }
  leave() {
    super.leave();
    this.onhover?.(null);
  }

  // Shows the position with the highest sum.
  showPeak() {
    const x = this.x[this.peak];
    if (x < this.range.low || x > this.range.high) this.range.set(x - this.range.span / 2, x + this.range.span / 2);
    this.frame();
    this.hover(this.xAt(x), this.plot.top + 20);
  }
}

// The curves and, if available, the blocks they consist of and the events on the same time axis; all share the visible
// range.
export function areaViews(root, rows) {
  const x = summed(rows.x);
  let last = x[x.length - 1];
  let first = x[0];
  const blocks = rows.blocks ? new Blocks(rows.blocks, last) : null;
  if (blocks) {
    first = Math.min(first, blocks.first);
    last = Math.max(last, blocks.last);
  }
  if (!(last > first)) last = first + 1;
  const range = new Range(first, last, rows.nanoseconds ? 20 : (last - first) * 1e-6);
  const area = new AreaView(root, rows, range);
  const views = [area];
  if (blocks) views.push(new BlocksView(root, rows, range, blocks));
  if (rows.events) views.push(eventsBelow(root, rows, range));
  const segments = blocks ? segmentsBelow(root, rows, area, views[1]) : null;
  if (blocks) addMemoryControls(area, views, x);
  else area.toolbar.addButton("Peak", "Show the highest sum", () => area.showPeak());
  addHelp(root, [
    ["W / S, wheel", "zoom; the wheel zooms after a click into the chart or with Ctrl"],
    ["A / D, arrow keys, drag", "pan"],
    ...(blocks
      ? [
          ["Shift + W / S", "scale the blocks vertically; dragging then also pans vertically"],
          ["click", "the blocks that are alive at that time, or the details of a block"],
          ...(rows.segments ? [["pointer in the curves", "the segments at that time; a click keeps it"]] : []),
          ["/ , N", "search blocks, next match"],
        ]
      : []),
    ["0, Escape", "show everything; close"],
  ]);
  return segments ? [...views, segments] : views;
}

// Lanes on the time axis of the curves.
function eventsBelow(root, rows, range) {
  const box = element("div", { className: "kymo-below" });
  root.append(box);
  const view = new TimelineView(box, rows.events, range);
  view.useAxis = (axis) => {
    box.hidden = axis !== null;
  };
  return view;
}

function addMemoryControls(area, views, x) {
  const [, blocks] = views;
  const axis = new EventAxis([...x, ...blocks.blocks.times]);
  new AxisSwitch(area.toolbar, area.range, axis, views, () => blocks.showLive(null));
  area.toolbar.addButton("Peak", "Jump to the peak and list its blocks", () => blocks.showPeak());
  area.click = (px) => blocks.showLive(area.timeAt(px), "At this time");
  blocks.curves = area;
}
