// SPDX-License-Identifier: Apache-2.0
// Non-overlapping bars in order, and how to draw thousands of them as a few rectangles.

import { firstAtLeast, summed } from "./units.js";

const BLOCK = 64;

export class Track {
  // `shift` is subtracted from the times.
  constructor(rows, shift = 0) {
    const count = rows.start.length;
    this.lane = rows.lane;
    this.row = rows.row;
    this.count = count;
    this.start = summed(rows.start).map((start) => start - shift);
    this.end = new Float64Array(count);
    this.label = Uint32Array.from(rows.label);
    this.kind = Uint32Array.from(rows.class);
    // Columns of numbers; −1: none.
    const column = (values) => (values?.length ? Int32Array.from(values) : new Int32Array(count).fill(-1));
    this.detail = column(rows.detail);
    this.scope = column(rows.scope);
    this.phase = column(rows.phase);
    this.step = column(rows.step);
    this.event = column(rows.event);
    this.launchedBy = column(rows.launchedBy);
    this.calledBy = column(rows.calledBy);
    this.busy = new Float64Array(count + 1);
    for (let i = 0; i < count; ++i) {
      this.end[i] = this.start[i] + rows.length[i];
      this.busy[i + 1] = this.busy[i] + rows.length[i];
    }
    this.longest = this.longestOfBlocks();
    this.hits = null;
  }
  length(i) {
    return this.end[i] - this.start[i];
  }
  longestOfBlocks() {
    const longest = new Uint32Array(Math.ceil(this.count / BLOCK));
    for (let i = 0; i < this.count; ++i) {
      const block = Math.floor(i / BLOCK);
      if (i % BLOCK === 0 || this.length(i) > this.length(longest[block])) longest[block] = i;
    }
    return longest;
  }
  // The longest bar in [from, to), skipping whole blocks.
  longestOf(from, to) {
    let best = from;
    for (let i = from + 1; i < to; ++i) {
      const skips = i % BLOCK === 0 && i + BLOCK <= to;
      const candidate = skips ? this.longest[i / BLOCK] : i;
      if (this.length(candidate) > this.length(best)) best = candidate;
      if (skips) i += BLOCK - 1;
    }
    return best;
  }
  // `matches(i)` tells whether bar i matches. Keeps prefix counts, so that any range can be queried. Returns the number
  // of matches.
  mark(matches) {
    this.hits = new Uint32Array(this.count + 1);
    for (let i = 0; i < this.count; ++i) this.hits[i + 1] = this.hits[i] + (matches(i) ? 1 : 0);
    return this.hits[this.count];
  }
  found(i) {
    return this.hits === null || this.hits[i + 1] > this.hits[i];
  }

  // Visits the visible bars: bars at least one cell wide individually, narrower ones once per cell.
  // bar(i), group(from, to, cell index relative to `low`).
  visit(low, high, cell, bar, group) {
    let i = firstAtLeast(this.end, low);
    while (i < this.count && this.start[i] <= high) {
      if (this.length(i) >= cell) {
        bar(i++);
        continue;
      }
      const number = Math.floor((this.start[i] - low) / cell);
      // Guards against an infinite loop if rounding places a cell boundary before its bar.
      let to = Math.max(i + 1, firstAtLeast(this.start, low + (number + 1) * cell, i + 1));
      if (to - 1 > i && this.length(to - 1) >= cell) --to;
      group(i, to, number);
      i = to;
    }
  }
}
