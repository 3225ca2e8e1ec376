// SPDX-License-Identifier: Apache-2.0
// A selected range, and the distance between two points.

import { HIDDEN } from "./lanes.js";
import { clamp, durationText, firstAbove } from "./units.js";

export class RangeSelection {
  constructor(view) {
    this.view = view;
    this.anchor = this.end = null;
  }
  get exists() {
    return this.anchor !== null && this.end !== this.anchor;
  }
  get low() {
    return Math.min(this.anchor, this.end);
  }
  get high() {
    return Math.max(this.anchor, this.end);
  }
  begin(time) {
    this.anchor = this.end = time;
  }
  to(time) {
    this.end = clamp(time, this.view.range.first, this.view.range.last);
  }
  clear() {
    this.anchor = this.end = null;
  }
  draw(context, ink) {
    if (!this.exists) return;
    const { plot } = this.view;
    const left = clamp(this.view.xAt(this.low), plot.left, plot.left + plot.width);
    const right = clamp(this.view.xAt(this.high), plot.left, plot.left + plot.width);
    context.fillStyle = ink.accent;
    context.globalAlpha = 0.16;
    context.fillRect(left, plot.top, right - left, plot.height);
    context.globalAlpha = 1;
    for (const x of [left, right]) context.fillRect(x - 0.5, plot.top, 1, plot.height);
  }
}

// Two points in time; a third replaces both.
export class Measure {
  constructor(view) {
    this.view = view;
    this.points = [];
  }
  add(time) {
    if (this.points.length === 2) this.points = [];
    this.points.push(time);
  }
  clear() {
    this.points = [];
  }
  get distance() {
    return this.points.length === 2 ? Math.abs(this.points[1] - this.points[0]) : null;
  }
  draw(context, ink) {
    const { plot } = this.view;
    context.fillStyle = ink.ink;
    const xs = this.points.map((time) => this.view.xAt(time));
    for (const x of xs) if (x >= plot.left) context.fillRect(x - 0.5, plot.top, 1, plot.height);
    if (xs.length < 2) return;
    const [left, right] = [Math.max(plot.left, Math.min(...xs)), Math.min(plot.left + plot.width, Math.max(...xs))];
    if (right < left) return;
    const y = plot.top + plot.height - 12;
    context.fillRect(left, y, right - left, 1);
    const text = durationText(this.distance);
    const half = context.measureText(text).width / 2 + 5;
    const middle = clamp((left + right) / 2, plot.left + half, plot.left + plot.width - half);
    context.fillStyle = ink.page;
    context.fillRect(middle - half, y - 9, 2 * half, 18);
    context.fillStyle = ink.ink;
    context.textAlign = "center";
    context.fillText(text, middle, y);
  }
}

// The bars of the shown lanes in a range: per lane their number, their total time and the share of the range in which
// at least one of them ran; and the names with the most time. Bars are clipped to the range. Where bars are nested, the
// time of a name excludes that of the bars within.
export class RangeSummary {
  constructor(view, low, high) {
    Object.assign(this, { low, high, lanes: [], names: [], count: 0, total: 0 });
    const names = new Map();
    view.rows.lanes.forEach((lane, number) => {
      if (view.lanes.tops[number] === HIDDEN) return;
      const tracks = view.tracks.filter((track) => track.lane === number);
      const sum = { lane, count: 0, total: 0, busy: busyTime(tracks, low, high) };
      for (const track of tracks) this.addTrack(track, tracks, sum, names);
      if (sum.count === 0) return;
      this.lanes.push(sum);
      this.count += sum.count;
      this.total += sum.total;
    });
    this.names = [...names.values()].sort((a, b) => b.total - a.total);
  }
  addTrack(track, tracks, sum, names) {
    const inner = tracks.find((each) => each.row === track.row + 1);
    for (let i = firstAbove(track.end, this.low); i < track.count && track.start[i] < this.high; ++i) {
      const from = Math.max(track.start[i], this.low);
      const to = Math.min(track.end[i], this.high);
      sum.count += 1;
      sum.total += to - from;
      const key = track.kind[i] * 2 ** 32 + track.label[i];
      const first = { track, i, neighbours: 0 };
      const name = names.get(key) ?? { label: track.label[i], kind: track.kind[i], count: 0, total: 0, first };
      names.set(key, name);
      name.count += 1;
      name.total += to - from - (inner ? nestedTime(inner, from, to, track.end[i]) : 0);
    }
  }
}

// Time within [from, to) of the bars of a track that end by `end`.
function nestedTime(track, from, to, end) {
  let sum = 0;
  for (let k = firstAbove(track.end, from); k < track.count && track.start[k] < to && track.end[k] <= end; ++k)
    sum += Math.min(track.end[k], to) - Math.max(track.start[k], from);
  return sum;
}

// Time in [low, high) that at least one bar of these tracks covers.
function busyTime(tracks, low, high) {
  const pieces = [];
  for (const track of tracks)
    for (let i = firstAbove(track.end, low); i < track.count && track.start[i] < high; ++i)
      pieces.push([Math.max(low, track.start[i]), Math.min(high, track.end[i])]);
  if (tracks.length > 1) pieces.sort((a, b) => a[0] - b[0]);
  let busy = 0;
  let until = low;
  for (const [from, to] of pieces) {
    if (to <= until) continue;
    busy += to - Math.max(from, until);
    until = to;
  }
  return busy;
}
