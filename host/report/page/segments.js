// SPDX-License-Identifier: Apache-2.0
// The segments of an allocator and the blocks within them.

import { bytesText, countText, firstAbove, percentText } from "./units.js";

// Indices of a list in the order of its values.
const orderOf = (values) => Uint32Array.from(values.keys()).sort((a, b) => values[a] - values[b]);

// A segment at one time.
class SegmentRow {
  constructor(rows, i) {
    this.address = rows.address[i];
    this.bytes = rows.bytes[i];
    this.stream = rows.stream[i];
    this.blocks = [];
  }
  get end() {
    return this.address + this.bytes;
  }
  // Adds up the blocks, which ascend by address, and the gaps between them.
  measure({ address, bytes }, isPending) {
    Object.assign(this, { allocated: 0, pending: 0, gaps: [] });
    let at = this.address;
    const gapUntil = (next) => next > at && this.gaps.push([at, next - at]);
    for (const id of this.blocks) {
      const size = Math.min(address[id] + bytes[id], this.end) - address[id];
      if (isPending(id)) this.pending += size;
      else this.allocated += size;
      gapUntil(address[id]);
      at = Math.max(at, address[id] + size);
    }
    gapUntil(this.end);
    this.largestGap = this.gaps.reduce((most, [, size]) => Math.max(most, size), 0);
    return this;
  }
}

export class Segments {
  // `rows` as in the page; `blocks` are on the time axis.
  constructor(rows, blocks) {
    this.rows = rows;
    this.blocks = blocks;
    this.lowest = BigInt(rows.lowest);
    this.address = Float64Array.from(blocks.rows.address);
    this.bytes = blocks.bytes;
    const { start, end } = blocks.given;
    this.until = end.map((each, i) => each + blocks.rows.pending[i]);
    this.segmentUntil = rows.start.map((each, i) => (rows.length[i] < 0 ? Infinity : each + rows.length[i]));
    this.order = orderOf(rows.address);
    this.blockOrder = orderOf(this.address).filter((id) => this.address[id] >= 0);
    const times = [...rows.start, ...this.segmentUntil, ...start, ...end, ...this.until];
    this.times = Float64Array.from(new Set(times.filter((time) => time < Infinity))).sort();
    this.largest = Math.max(...rows.bytes);
    this.isExpandable = this.hasBlockAcross();
  }
  // Is there a block across the border of two segments? Then segments are parts of expandable ones.
  hasBlockAcross() {
    const starts = new Set(this.rows.address);
    const ends = this.rows.address.map((each, i) => each + this.rows.bytes[i]);
    const borders = Float64Array.from(new Set(ends.filter((end) => starts.has(end)))).sort();
    return this.blockOrder.some(
      (id) => borders[firstAbove(borders, this.address[id])] < this.address[id] + this.bytes[id],
    );
  }
  addressText(address) {
    return `0x${(this.lowest + BigInt(address)).toString(16)}`;
  }
  // The rows at a time, by address. Adjacent parts of an expandable segment are one.
  at(time) {
    const found = [];
    for (const i of this.order) {
      if (this.rows.start[i] > time || this.segmentUntil[i] <= time) continue;
      const row = new SegmentRow(this.rows, i);
      const last = found[found.length - 1];
      if (this.isExpandable && last && last.end === row.address && last.stream === row.stream) last.bytes += row.bytes;
      else found.push(row);
    }
    this.place(found, time);
    const { end } = this.blocks.given;
    return found.map((row) => row.measure(this, (id) => end[id] <= time));
  }
  place(found, time) {
    const { start } = this.blocks.given;
    let k = 0;
    for (const id of this.blockOrder) {
      if (start[id] > time || this.until[id] <= time) continue;
      while (k < found.length && found[k].end <= this.address[id]) ++k;
      if (k < found.length && found[k].address <= this.address[id]) found[k].blocks.push(id);
    }
  }
}

const sumOf = (rows, value) => rows.reduce((sum, row) => sum + value(row), 0);
export const countOf = (count, noun) => `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;

// What is reserved and not allocated at a time.
export function fragmentationText(rows, restBytes) {
  if (rows.length === 0) return "no segment is reserved.";
  const reserved = sumOf(rows, (row) => row.bytes);
  const pending = sumOf(rows, (row) => row.pending);
  const allocated = sumOf(rows, (row) => row.allocated) + restBytes;
  const gaps = sumOf(rows, (row) => row.gaps.length);
  const largest = rows.reduce((most, row) => Math.max(most, row.largestGap), 0);
  const free = reserved - allocated - pending;
  const waiting = pending > 0 ? ` − ${bytesText(pending)} freed but in use by a stream` : "";
  const merged = restBytes > 0 ? ` ${bytesText(restBytes)} of small blocks are not drawn and count as gaps here.` : "";
  return [
    `reserved ${bytesText(reserved)} in ${countOf(rows.length, "segment")}`,
    ` − allocated ${bytesText(allocated)}${waiting}`,
    ` = ${bytesText(free)} free (${percentText(free / reserved)}) in ${countOf(gaps, "gap")};`,
    ` largest free block ${bytesText(largest)}.${merged}`,
  ].join("");
}
