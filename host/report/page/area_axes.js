// SPDX-License-Identifier: Apache-2.0
// Axes of an area chart, and its bands.

import { AXIS, RIGHT_MARGIN, Y_MARGIN } from "./canvas.js";
import { axisTicks, BYTE_UNITS, bytesText, clamp, durationText, significant, timeTicks, unitFor } from "./units.js";

const BAND_STRIP = 20;

// The place of the plot in a picture of this height: below the strip with the labels of the bands, if there are any.
export function plotIn(surface, height, bands) {
  const top = 6 + (bands.length ? BAND_STRIP : 0);
  return { left: Y_MARGIN, top, width: surface.width - Y_MARGIN - RIGHT_MARGIN, height: height - top - AXIS };
}

// Draws the left margin, heading and ticks of a value axis.
export function drawValueAxis(context, plot, lowest, highest, ink, rows) {
  const [factor, unit] = rows.bytes ? unitFor(BYTE_UNITS, highest) : [1, rows.yUnit];
  context.textAlign = "right";
  for (const tick of axisTicks(lowest, highest, 5, factor)) {
    const y = Math.round(plot.top + plot.height * (1 - (tick.value - lowest) / (highest - lowest)));
    context.fillStyle = ink.rule;
    context.fillRect(plot.left, y, plot.width, 1);
    context.fillStyle = ink.muted;
    context.fillText(tick.label, plot.left - 8, y);
  }
  context.save();
  context.translate(11, plot.top + plot.height / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillStyle = ink.ink;
  context.fillText(unit ? `${rows.yTitle} (${unit})` : rows.yTitle, 0, 0);
  context.restore();
}

export function drawBands(context, surface, view, bands, ink) {
  const { plot } = view;
  context.textAlign = "center";
  bands.forEach((band, i) => {
    const left = clamp(view.xAt(band.start), plot.left, plot.left + plot.width);
    const right = clamp(view.xAt(band.end), plot.left, plot.left + plot.width);
    if (right - left < 0.5) return;
    if (i % 2 === 0) {
      context.fillStyle = ink.raised;
      context.fillRect(left, plot.top - BAND_STRIP, right - left, plot.height + BAND_STRIP);
    }
    context.fillStyle = ink.rule;
    context.fillRect(left, plot.top - BAND_STRIP, 1, plot.height + BAND_STRIP);
    context.fillStyle = ink.muted;
    context.fillText(surface.fitted(band.label, right - left - 6), (left + right) / 2, plot.top - BAND_STRIP / 2);
  });
}

// Formats positions and values of an area chart.
export class AreaWords {
  constructor(rows) {
    this.rows = rows;
    this.axis = null;
  }
  ticks(low, high, target) {
    const { rows } = this;
    if (this.axis) return { heading: "allocations and frees", ticks: axisTicks(low, high, target, 1) };
    if (rows.nanoseconds) {
      const { heading, ticks } = timeTicks(low, high, target);
      return { heading: heading.replace("time since the first event", rows.xTitle), ticks };
    }
    return {
      heading: rows.xUnit ? `${rows.xTitle} (${rows.xUnit})` : rows.xTitle,
      ticks: axisTicks(low, high, target, 1),
    };
  }
  position(x) {
    return this.rows.nanoseconds ? durationText(x) : `${significant(x, 6)} ${this.rows.xUnit}`;
  }
  // The bands on the current axis.
  bands() {
    const { axis } = this;
    if (!axis) return this.rows.bands;
    return this.rows.bands.map(({ label, start, end }) => ({
      label,
      start: axis.indexOf(start),
      end: axis.indexOf(end),
    }));
  }
  value(y) {
    return this.rows.bytes ? bytesText(Math.round(y)) : `${significant(y, 4)} ${this.rows.yUnit}`;
  }
  bandAt(x) {
    const band = this.bands().find((each) => x >= each.start && x < each.end);
    return band ? band.label : "";
  }
}
