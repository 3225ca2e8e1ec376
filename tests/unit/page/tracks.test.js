// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { HIDDEN, Lanes, ROW } from "../../../host/report/page/lanes.js";
import { Links } from "../../../host/report/page/links.js";
import { RangeSummary } from "../../../host/report/page/measure.js";
import { Track } from "../../../host/report/page/track.js";

// A track from bars [start, length, columns].
function trackOf(lane, row, bars) {
  const column = (name, none) => bars.map(([, , more]) => more?.[name] ?? none);
  return new Track({
    lane,
    row,
    start: bars.map(([start], i) => start - (i ? bars[i - 1][0] : 0)),
    length: bars.map(([, length]) => length),
    label: column("label", 0),
    class: column("kind", 0),
    scope: column("scope", -1),
    step: column("step", -1),
    event: column("event", -1),
    launchedBy: column("launchedBy", -1),
    calledBy: column("calledBy", -1),
  });
}

test("the longest bar of a range is found across and within blocks", () => {
  const lengths = Array.from({ length: 300 }, (_, i) => 1 + ((i * 7919) % 101));
  const track = trackOf(
    0,
    0,
    lengths.map((length, i) => [1000 * i, length]),
  );
  for (const [from, to] of [
    [0, 300],
    [1, 299],
    [63, 65],
    [64, 128],
    [100, 101],
    [5, 250],
  ]) {
    const longest = Math.max(...lengths.slice(from, to));
    assert.equal(lengths[track.longestOf(from, to)], longest, `${from} to ${to}`);
  }
});

test("narrow bars are visited once per cell, wide ones alone, and none twice", () => {
  const track = trackOf(0, 0, [
    [0, 1],
    [2, 1],
    [8, 30],
    [40, 1],
    [47, 1],
  ]);
  const seen = [];
  track.visit(
    0,
    100,
    10,
    (i) => seen.push([i]),
    (from, to, cell) => seen.push([from, to, cell]),
  );
  assert.deepEqual(seen, [[0, 2, 0], [2], [3, 5, 4]]);
});

test("marks are counted, and without a search everything is found", () => {
  const track = trackOf(0, 0, [
    [0, 1, { label: 1 }],
    [2, 1, { label: 2 }],
    [4, 1, { label: 1 }],
  ]);
  assert.ok(track.found(1));
  assert.equal(
    track.mark((i) => track.label[i] === 1),
    2,
  );
  assert.deepEqual(
    [0, 1, 2].map((i) => track.found(i)),
    [true, false, true],
  );
});

const LANES = [
  { run: "train", rank: 0, group: "host", name: "thread 0", rows: 2 },
  { run: "train", rank: 0, group: "GPU", name: "stream 7", rows: 1 },
  { run: "train", rank: 1, group: "GPU", name: "stream 7", rows: 1 },
];

test("a kernel leads to its call, its operator and its module, and back", () => {
  const operators = trackOf(0, 0, [[0, 50, { event: 10, kind: 0, scope: 1, step: 3 }]]);
  const calls = trackOf(0, 1, [[10, 5, { event: 11, kind: 1, step: 3 }]]);
  const kernels = trackOf(1, 0, [[20, 100, { event: 12, launchedBy: 11, calledBy: 10, kind: 2, scope: 1, step: 3 }]]);
  const links = new Links([operators, calls, kernels]);
  const kernel = { track: kernels, i: 0 };
  assert.equal(links.launchOf(kernel).track, calls);
  assert.equal(links.operatorOf(kernel).track, operators);
  assert.deepEqual(
    links.startedBy({ track: operators, i: 0 }).map(({ track }) => track),
    [kernels],
  );
  assert.equal(links.moduleOf(kernel, LANES, 0).track, operators);
  assert.deepEqual(
    links.around({ track: calls, i: 0 }).map(({ track }) => track),
    [operators],
  );
  const module = { track: operators, i: 0 };
  assert.equal(links.inModule(module, LANES, ["", "block"])[0].track, kernels);
});

test("a rank can be shown alone", () => {
  const lanes = new Lanes(LANES, []);
  assert.deepEqual(lanes.ranks(), [0, 1]);
  assert.ok(lanes.tops.every((top) => top !== HIDDEN));
  lanes.choose({ run: "train", rank: 1 });
  assert.deepEqual(
    lanes.tops.map((top) => top === HIDDEN),
    [true, true, false],
  );
  assert.ok(lanes.height >= ROW);
});

test("the summary of a range clips bars and excludes what is nested", () => {
  const outer = trackOf(0, 0, [[0, 100, { label: 1 }]]);
  const inner = trackOf(0, 1, [[20, 30, { label: 2 }]]);
  const view = { rows: { lanes: LANES.slice(0, 1) }, lanes: { tops: [0] }, tracks: [outer, inner] };
  const summary = new RangeSummary(view, 10, 40);
  assert.equal(summary.count, 2);
  assert.equal(summary.lanes[0].busy, 30);
  assert.deepEqual(
    summary.names.map(({ label, total }) => [label, total]),
    [
      [2, 20],
      [1, 10],
    ],
  );
});
