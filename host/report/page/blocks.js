// SPDX-License-Identifier: Apache-2.0
// Memory blocks and the time in which each is live.

import { firstAbove, summed } from "./units.js";

// The total size of the blocks that are not shown individually.
export function restAt({ restX, restBytes }, time) {
  const i = firstAbove(restX, time) - 1;
  return i < 0 ? 0 : restBytes[i];
}

export class Blocks {
  constructor(rows, last) {
    const count = rows.start.length;
    this.rows = rows;
    this.count = count;
    this.start = summed(rows.start);
    this.bytes = Float64Array.from(rows.bytes);
    this.first = count ? this.start[0] : 0;
    this.last = last;
    for (let i = 0; i < count; ++i) this.last = Math.max(this.last, this.start[i] + Math.max(0, rows.length[i]));
    this.end = Float64Array.from(this.start, (start, i) => (rows.length[i] < 0 ? Infinity : start + rows.length[i]));
    this.deaths = Float64Array.from(this.end).sort();
    this.restX = Float64Array.from(rows.restX);
    this.restBytes = Float64Array.from(rows.restBytes);
    this.given = { start: this.start, end: this.end, restX: this.restX, first: this.first, last: this.last };
    this.addTotals();
  }
  // Moves everything to another axis; null: back to time.
  useAxis(axis) {
    const { start, end, restX, first, last } = this.given;
    const to = (x) => (axis ? axis.indexOf(x) : x);
    this.start = start.map(to);
    this.end = end.map(to);
    this.restX = restX.map(to);
    this.first = to(first);
    this.last = to(last);
    this.deaths = Float64Array.from(this.end).sort();
    this.addTotals();
  }
  // Blocks that are alive at a position, largest first.
  aliveAt(x) {
    const found = [];
    for (let i = 0; i < this.count && this.start[i] <= x; ++i) if (this.end[i] > x) found.push(i);
    return found.sort((a, b) => this.bytes[b] - this.bytes[a]);
  }
  // The position of the highest total.
  get peak() {
    let best = 0;
    for (let i = 0; i < this.times.length; ++i)
      if (this.times[i + 1] !== this.times[i] && this.totals[i] > this.totals[best]) best = i;
    return this.times[best];
  }
  // Total size of all blocks after each change, and the times of the changes.
  addTotals() {
    const births = Array.from({ length: this.count }, (_, i) => [this.start[i], this.bytes[i]]);
    const deaths = births.map((_, i) => [this.end[i], -this.bytes[i]]).filter(([time]) => time < Infinity);
    const rest = Array.from(this.restX, (x, i) => [x, this.restBytes[i] - (i ? this.restBytes[i - 1] : 0)]);
    const changes = births.concat(deaths, rest).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    this.times = Float64Array.from(changes, (change) => change[0]);
    this.totals = summed(changes.map((change) => change[1]));
    this.highest = this.totals.reduce((best, each) => Math.max(best, each), 0) || 1;
  }
  // For each pixel column, the time with the largest total.
  moments(low, span, count) {
    const moments = new Float64Array(count);
    let next = firstAbove(this.times, low);
    for (let column = 0; column < count; ++column) {
      const begin = low + (span * column) / count;
      const end = low + (span * (column + 1)) / count;
      let most = next > 0 ? this.totals[next - 1] : 0;
      moments[column] = begin;
      for (; next < this.times.length && this.times[next] < end; ++next) {
        // Intermediate totals between changes at the same time never existed.
        if (this.times[next + 1] === this.times[next] || this.totals[next] <= most) continue;
        most = this.totals[next];
        moments[column] = this.times[next];
      }
    }
    return moments;
  }
}
