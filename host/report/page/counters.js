// SPDX-License-Identifier: Apache-2.0
// Quantities over time in lanes of their own: a step line, with the lowest and the highest value of each pixel.

import { COUNTER } from "./lanes.js";
import { bytesText, firstAbove, significant, summed } from "./units.js";

export class Counter {
  constructor(rows, shift) {
    Object.assign(this, { name: rows.name, unit: rows.unit, run: rows.run, rank: rows.rank });
    this.x = summed(rows.x).map((x) => x - shift);
    this.y = Float64Array.from(rows.y);
    const extent = this.y.reduce(([low, high], y) => [Math.min(low, y), Math.max(high, y)], [Infinity, -Infinity]);
    const flat = extent[0] === extent[1];
    // A quantity that hardly changes is not drawn from zero.
    const near = extent[0] > 0 && extent[0] > extent[1] * 0.5;
    this.low = near && !flat ? extent[0] - (extent[1] - extent[0]) * 0.25 : Math.min(0, extent[0]);
    this.high = extent[1] > this.low ? extent[1] : this.low + 1;
  }
  text(value) {
    return this.unit === "B" ? bytesText(Math.round(value)) : `${significant(value, 4)} ${this.unit}`;
  }
  // The value at a time; undefined before the first one.
  at(time) {
    const i = firstAbove(this.x, time) - 1;
    return i < 0 ? undefined : this.y[i];
  }
  // Lowest and highest value in [from, to); undefined without any.
  extent(from, to) {
    let low = this.at(from);
    let high = low;
    for (let i = firstAbove(this.x, from); i < this.x.length && this.x[i] < to; ++i) {
      low = low === undefined ? this.y[i] : Math.min(low, this.y[i]);
      high = high === undefined ? this.y[i] : Math.max(high, this.y[i]);
    }
    return low === undefined ? undefined : [low, high];
  }
  draw(context, view, top, ink) {
    const { plot, range } = view;
    const height = COUNTER - 12;
    const y = (value) => top + 10 + height * (1 - (value - this.low) / (this.high - this.low));
    const columns = Math.floor(plot.width);
    const step = range.span / columns;
    context.fillStyle = ink.accent;
    context.globalAlpha = 0.25;
    const last = this.x[this.x.length - 1];
    const extents = Array.from({ length: columns }, (_, column) => {
      const from = range.low + column * step;
      return from > last ? undefined : this.extent(from, from + step);
    });
    extents.forEach((extent, column) => {
      if (extent) context.fillRect(plot.left + column, y(extent[1]), 1, top + 10 + height - y(extent[1]));
    });
    context.globalAlpha = 1;
    extents.forEach((extent, column) => {
      if (!extent) return;
      const before = extents[column - 1] || extent;
      const low = Math.min(extent[0], before[1]);
      const high = Math.max(extent[1], before[0]);
      context.fillRect(plot.left + column, y(high) - 0.75, 1, y(low) - y(high) + 1.5);
    });
    context.fillStyle = ink.muted;
    context.textAlign = "right";
    context.fillText(this.text(this.high), plot.left + plot.width - 4, top + 5);
  }
}
