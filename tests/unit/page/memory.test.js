// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { Blocks, restAt } from "../../../host/report/page/blocks.js";
import { EventAxis } from "../../../host/report/page/event_axis.js";
import { Range } from "../../../host/report/page/range.js";
import { fragmentationText, Segments } from "../../../host/report/page/segments.js";

// Three blocks: [0, 10) of 100 bytes, [5, 20) of 50, and one of 25 from 12 on that is never freed; small ones of
// 8 bytes together from 6 on.
const blocks = () =>
  new Blocks(
    {
      start: [0, 5, 7],
      length: [10, 15, -1],
      bytes: [100, 50, 25],
      restX: [6],
      restBytes: [8],
      address: [0, 128, 256],
      pending: [0, 2, 0],
    },
    30,
  );

test("blocks know what is live, and their peak", () => {
  const all = blocks();
  assert.deepEqual(all.aliveAt(7), [0, 1]);
  assert.deepEqual(all.aliveAt(25), [2]);
  assert.equal(restAt(all, 5), 0);
  assert.equal(restAt(all, 6), 8);
  assert.equal(all.peak, 6);
  assert.equal(all.highest, 158);
});

test("a column of pixels shows the moment with the largest total", () => {
  assert.deepEqual([...blocks().moments(0, 20, 2)], [6, 10]); // what was live before 10 is more than what follows
});

test("on the axis of events, every change takes the same room", () => {
  const axis = new EventAxis([10, 0, 30, 10]);
  assert.equal(axis.count, 3);
  assert.equal(axis.indexOf(10), 1);
  assert.equal(axis.indexOf(20), 1.5);
  assert.equal(axis.timeOf(1.5), 20);
  assert.equal(axis.indexOf(Infinity), Infinity);
  const all = blocks();
  all.useAxis(new EventAxis([0, 5, 6, 10, 12, 20]));
  assert.equal(all.peak, 2);
  all.useAxis(null);
  assert.equal(all.peak, 6);
});

test("a range stays within its limits", () => {
  const range = new Range(0, 1000, 10);
  let told = 0;
  range.listeners.push(() => ++told);
  range.set(-50, 50);
  assert.deepEqual([range.low, range.high], [0, 100]);
  range.zoom(0.001, 50);
  assert.equal(range.span, 10);
  range.pan(1e6);
  assert.deepEqual([range.low, range.high], [990, 1000]);
  assert.equal(told, 3);
});

test("segments have their blocks and gaps at a time, also blocks that wait for a stream", () => {
  const segments = new Segments(
    { address: [0, 512], bytes: [512, 512], stream: [0, 1], start: [0, 0], length: [-1, -1], lowest: "4096" },
    blocks(),
  );
  const [first, second] = segments.at(8);
  assert.equal(first.allocated, 150);
  assert.deepEqual(first.gaps, [
    [100, 28],
    [178, 334],
  ]);
  assert.equal(second.largestGap, 512);
  assert.equal(segments.at(21)[0].pending, 50);
  assert.equal(segments.addressText(16), "0x1010");
  assert.match(fragmentationText([first], 8), /^reserved 512 B in 1 segment − allocated 158 B = 354 B free \(69.1 %\)/);
  assert.equal(fragmentationText([], 0), "no segment is reserved.");
});
