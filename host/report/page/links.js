// SPDX-License-Identifier: Apache-2.0
// Which bars belong together: a kernel, the host call that launched it, the operator that made the call, and the scopes
// around them.

import { firstAbove, firstAtLeast } from "./units.js";

const TRACK_SHARE = 2 ** 26;

export class Links {
  constructor(tracks) {
    this.tracks = tracks;
    this.byEvent = new Map();
    this.launched = new Map();
    tracks.forEach((track, number) => {
      for (let i = 0; i < track.count; ++i) {
        const bar = number * TRACK_SHARE + i;
        if (track.event[i] >= 0) this.byEvent.set(track.event[i], bar);
        this.note(track.launchedBy[i], bar);
        if (track.calledBy[i] !== track.launchedBy[i]) this.note(track.calledBy[i], bar);
      }
    });
  }
  note(event, bar) {
    if (event < 0) return;
    const known = this.launched.get(event);
    if (known) known.push(bar);
    else this.launched.set(event, [bar]);
  }
  unpacked(bar) {
    return { track: this.tracks[Math.floor(bar / TRACK_SHARE)], i: bar % TRACK_SHARE, neighbours: 0 };
  }
  withEvent(event) {
    const bar = event < 0 ? undefined : this.byEvent.get(event);
    return bar === undefined ? null : this.unpacked(bar);
  }
  launchOf({ track, i }) {
    return this.withEvent(track.launchedBy[i]);
  }
  operatorOf({ track, i }) {
    return this.withEvent(track.calledBy[i]);
  }
  // The bars that this bar, or a bar nested within it, started; sorted by start.
  startedBy({ track, i }) {
    const bars = new Set(this.launched.get(track.event[i]));
    for (const inner of this.tracks) {
      if (inner.lane !== track.lane || inner.row <= track.row) continue;
      const from = firstAtLeast(inner.start, track.start[i]);
      for (let k = from; k < inner.count && inner.start[k] <= track.end[i]; ++k)
        if (inner.end[k] <= track.end[i]) for (const bar of this.launched.get(inner.event[k]) || []) bars.add(bar);
    }
    return this.inOrder(Array.from(bars, (bar) => this.unpacked(bar)));
  }
  inOrder(bars) {
    return bars.sort((a, b) => a.track.start[a.i] - b.track.start[b.i]);
  }
  // The bars of the same lane that contain this one, innermost first.
  around({ track, i }) {
    const found = [];
    for (const outer of this.tracks) {
      if (outer.lane !== track.lane || outer.row >= track.row) continue;
      const k = firstAbove(outer.start, track.start[i]) - 1;
      if (k >= 0 && outer.end[k] >= track.end[i]) found.push({ track: outer, i: k, neighbours: 0 });
    }
    return found.sort((a, b) => b.track.row - a.track.row);
  }
  // The bars of class `kind` in the same step that have exactly this scope: the module that a kernel belongs to.
  moduleOf({ track, i }, lanes, kind) {
    if (track.scope[i] < 0) return null;
    for (const other of this.tracks) {
      if (other === track || !sameRecorder(lanes[other.lane], lanes[track.lane])) continue;
      for (let k = 0; k < other.count; ++k) {
        const fits = other.kind[k] === kind && other.scope[k] === track.scope[i] && other.step[k] === track.step[i];
        if (fits && other.start[k] <= track.start[i]) return { track: other, i: k, neighbours: 0 };
      }
    }
    return null;
  }
  // The bars of other groups of lanes in the same step whose scope is this one or inside of it.
  inModule({ track, i }, lanes, texts) {
    const path = texts[track.scope[i]];
    if (!path) return [];
    const inside = texts.map((text) => text === path || text.startsWith(`${path}/`));
    const found = [];
    for (const other of this.tracks) {
      const apart = lanes[other.lane].group !== lanes[track.lane].group;
      if (!apart || !sameRecorder(lanes[other.lane], lanes[track.lane])) continue;
      for (let k = 0; k < other.count; ++k)
        if (inside[other.scope[k]] && other.step[k] === track.step[i])
          found.push({ track: other, i: k, neighbours: 0 });
    }
    return this.inOrder(found);
  }
}

const sameRecorder = (a, b) => a.run === b.run && a.rank === b.rank;
