// SPDX-License-Identifier: Apache-2.0
// Formatting of numbers, and searching in sorted arrays.

const TIME_UNITS = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];
export const BYTE_UNITS = [
  [2 ** 40, "TiB"],
  [2 ** 30, "GiB"],
  [2 ** 20, "MiB"],
  [2 ** 10, "KiB"],
  [1, "B"],
];

export const unitFor = (units, size) => units.find(([factor]) => size >= factor) || units[units.length - 1];

function grouped(text) {
  const [whole, fraction] = text.split(".");
  const digits = whole.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
  return fraction === undefined ? digits : `${digits}.${fraction}`;
}

export function significant(value, digits) {
  if (value === 0) return "0";
  const magnitude = Math.abs(value);
  if (magnitude >= 1e15 || magnitude < 1e-6) return value.toExponential(digits - 1);
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(magnitude)));
  return grouped(value.toFixed(Math.min(decimals, 12)));
}

export function durationText(ns) {
  const [factor, unit] = unitFor(TIME_UNITS, Math.abs(ns));
  return `${significant(ns / factor, unit === "ns" ? 1 : 4)} ${unit}`;
}

export function bytesText(bytes) {
  const [factor, unit] = unitFor(BYTE_UNITS, Math.abs(bytes));
  return unit === "B" ? `${grouped(String(bytes))} B` : `${(bytes / factor).toFixed(2)} ${unit}`;
}

export const percentText = (part) => `${(100 * part).toFixed(1)} %`;
export const countText = (count) => grouped(String(count));

// 1, 2 or 5 times a power of ten, such that about `target` steps fit into the span.
function niceStep(span, target) {
  const rough = span / Math.max(1, target);
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((each) => each * power >= rough * 0.9999) || 10;
  return factor * power;
}

// Values and labels of ticks; all labels of an axis have the same unit and enough decimals to distinguish neighbors.
export function axisTicks(low, high, target, unitSize) {
  if (!(high > low)) return [];
  const step = niceStep((high - low) / unitSize, target);
  const decimals = Math.min(12, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const ticks = [];
  for (let i = Math.ceil(low / unitSize / step - 1e-9); i * step * unitSize <= high * (1 + 1e-12); ++i) {
    ticks.push({ value: i * step * unitSize, label: grouped((i * step).toFixed(decimals)) });
  }
  return ticks;
}

// The unit depends on the far end of the visible range, not on the step, so that a position keeps its label while
// zooming.
export function timeTicks(low, high, target, zero = "the first event") {
  const [factor, unit] = unitFor(TIME_UNITS, Math.max(Math.abs(low), Math.abs(high)));
  return { heading: `time${zero && ` since ${zero}`} (${unit})`, ticks: axisTicks(low, high, target, factor) };
}

// First index starting at `from` whose value is at least `limit`; the length if there is none.
export function firstAtLeast(sorted, limit, from = 0) {
  let low = from;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function firstAbove(sorted, limit, from = 0) {
  let low = from;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Prefix sums of the differences.
export function summed(differences) {
  const out = new Float64Array(differences.length);
  let sum = 0;
  for (let i = 0; i < differences.length; ++i) out[i] = sum += differences[i];
  return out;
}

export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

// Marks the texts that contain the search string, ignoring case.
export function matchingTexts(texts, wanted) {
  const lower = wanted.toLowerCase();
  return Uint8Array.from(texts, (text) => (text.toLowerCase().includes(lower) ? 1 : 0));
}
