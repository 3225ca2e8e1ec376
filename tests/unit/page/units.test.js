// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import {
  axisTicks,
  bytesText,
  countText,
  durationText,
  firstAbove,
  firstAtLeast,
  matchingTexts,
  percentText,
  significant,
  summed,
  timeTicks,
} from "../../../host/report/page/units.js";

const NARROW = "\u202f"; // no-break space between groups of digits

test("numbers are grouped and have as many digits as asked for", () => {
  assert.equal(countText(1234567), `1${NARROW}234${NARROW}567`);
  assert.equal(significant(0, 3), "0");
  assert.equal(significant(1234.56, 3), `1${NARROW}235`); // digits before the point are not rounded away
  assert.equal(significant(0.00123456, 3), "0.00123");
  assert.equal(significant(1.5e-7, 2), "1.5e-7");
  assert.equal(percentText(0.1234), "12.3 %");
});

test("durations and sizes have the unit that fits", () => {
  assert.equal(durationText(999), "999 ns");
  assert.equal(durationText(1000), "1.000 µs");
  assert.equal(durationText(-2_500_000), "-2.500 ms");
  assert.equal(durationText(61e9), "61.00 s");
  assert.equal(bytesText(1023), `1${NARROW}023 B`);
  assert.equal(bytesText(1536), "1.50 KiB");
  assert.equal(bytesText(3 * 2 ** 30), "3.00 GiB");
});

test("ticks are round, within the range, and have the same number of decimals", () => {
  const ticks = axisTicks(0, 1, 5, 1);
  assert.deepEqual(
    ticks.map((tick) => tick.label),
    ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"],
  );
  assert.deepEqual(axisTicks(5, 5, 4, 1), []);
  assert.equal(axisTicks(12, 48, 3, 1)[0].value, 20);
});

test("the unit of a time axis is that of its far end", () => {
  const { heading, ticks } = timeTicks(1_999_000, 2_001_000, 2);
  assert.equal(heading, "time since the first event (ms)");
  assert.deepEqual(
    ticks.map((tick) => tick.label),
    ["1.999", "2.000", "2.001"],
  );
  assert.equal(timeTicks(0, 10, 2, "").heading, "time (ns)");
});

test("searches in sorted arrays find the first index", () => {
  const sorted = Float64Array.of(1, 3, 3, 7);
  assert.equal(firstAtLeast(sorted, 3), 1);
  assert.equal(firstAbove(sorted, 3), 3);
  assert.equal(firstAtLeast(sorted, 8), 4);
  assert.equal(firstAtLeast(sorted, 0, 2), 2);
});

test("differences are summed, and texts are found in any case", () => {
  assert.deepEqual([...summed([5, 1, 2])], [5, 6, 8]);
  assert.deepEqual([...matchingTexts(["Softmax", "gemm"], "MAX")], [1, 0]);
});
