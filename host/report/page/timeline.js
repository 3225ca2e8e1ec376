// SPDX-License-Identifier: Apache-2.0
// Timeline: bars in lanes that can be searched, selected and measured.

import { Details } from "./details.js";
import { LaneView } from "./lane_view.js";
import { HIDDEN, ROW } from "./lanes.js";
import { Links } from "./links.js";
import { Overview } from "./overview.js";
import { factList } from "./panel.js";
import { Pickers } from "./pickers.js";
import { addHelp } from "./toolbar.js";
import { clamp, durationText, firstAtLeast, matchingTexts } from "./units.js";

const MOST_ARROWS = 60;

export class TimelineView extends LaneView {
  // With `shared`, the timeline has no pickers, no overview and no help.
  constructor(root, rows, shared) {
    super(root, rows, shared);
    Object.assign(this, { matches: null, match: -1, steps: [], step: undefined });
    this.details = new Details(this);
    if (!shared) this.addControls(root);
  }

  addControls(root) {
    this.steps = this.stepsOf();
    this.pickers = new Pickers(this);
    root.insertBefore(this.pickers.bar, this.toolbar.bar);
    this.measureButton = this.toolbar.addButton("Measure", "Measure between two points: click both (M)", () =>
      this.toggleMeasure(),
    );
    this.measureButton.setAttribute("aria-pressed", "false");
    this.overview = new Overview(
      this,
      "Overview",
      (...place) => this.paintOverview(...place),
      () => [this.lanes.run, this.lanes.rank].join(),
    );
    addHelp(root, [
      ["W / S, wheel", "zoom; the wheel zooms after a click into the chart or with Ctrl"],
      ["A / D, arrow keys, drag", "pan"],
      ["Shift + drag, Shift + ← / →", "select a range: number of events, busy time, names with the most time"],
      ["click, Enter in the search", "details of a bar: launch, module, neighbors; arrows lead to what it started"],
      [", / .", "previous or next bar of the lane"],
      ["J / K", "the bar below or above"],
      ["F", "zoom to the bar or the selected range"],
      ["M", "set a point; two points are measured"],
      ["/ , N", "search, next match"],
      ["0, Escape", "show everything; close"],
    ]);
  }

  get links() {
    this.knownLinks ??= new Links(this.tracks);
    return this.knownLinks;
  }

  // The steps of the shown run, with the time in which they are.
  stepsOf() {
    const found = new Map();
    for (const track of this.tracks) {
      if (!this.lanes.shows(this.rows.lanes[track.lane])) continue;
      for (let i = 0; i < track.count; ++i) {
        if (track.step[i] < 0) continue;
        const known = found.get(track.step[i]);
        if (!known) found.set(track.step[i], { step: track.step[i], low: track.start[i], high: track.end[i] });
        else {
          known.low = Math.min(known.low, track.start[i]);
          known.high = Math.max(known.high, track.end[i]);
        }
      }
    }
    return [...found.values()].sort((a, b) => a.step - b.step);
  }
  chooseRun(run) {
    this.dismiss();
    this.lanes.choose({ run });
    const { first, last } = this.extents.get(run);
    this.range.cover(first, last, 20);
    this.steps = this.stepsOf();
    this.step = undefined;
    this.scroll = 0;
    this.showButtonsOf(run);
    this.pickAgain();
  }
  chooseRank(rank) {
    this.dismiss();
    this.lanes.choose({ run: this.lanes.run, rank });
    this.pickAgain();
  }
  chooseStep(step) {
    this.step = step;
    const found = this.steps.find((each) => each.step === step);
    if (found) this.range.set(found.low, found.high);
    else this.range.reset();
    this.pickers.refresh();
  }
  pickAgain() {
    this.pickers.refresh();
    this.search(this.toolbar.input.value);
    this.surface.request();
  }
  // Files of other runs are not offered.
  showButtonsOf(run) {
    for (const button of this.toolbar.bar.querySelectorAll("button[data-run]"))
      button.hidden = Boolean(button.dataset.run) && button.dataset.run !== run;
  }

  hover(x, y) {
    this.pointer = { x, y };
    const bar = this.barAt(x, y);
    const facts = bar ? this.facts(bar) : x >= this.plot.left ? this.counterFacts(y, this.timeAt(x)) : null;
    this.surface.canvas.style.cursor = this.measuring ? "crosshair" : bar ? "pointer" : "default";
    if (facts) this.tooltip.show(facts, x, y, this.plot.top + this.plot.height);
    else this.tooltip.hide();
  }

  click(x, y) {
    if (this.measuring) return this.addPoint(this.edgeNear(x, y));
    this.choose(this.barAt(x, y));
  }

  // Selects a bar and shows its details; without a bar, closes them.
  choose(bar) {
    this.tooltip.hide();
    this.selected = bar;
    this.arrows = [];
    if (bar) {
      this.arrows = this.arrowsOf(bar);
      this.details.showBar(bar);
    } else {
      this.details.panel.close();
    }
    this.surface.request();
  }
  arrowsOf(bar) {
    const shown = ({ track }) => this.lanes.tops[track.lane] !== HIDDEN;
    const launch = this.links.launchOf(bar) || this.links.operatorOf(bar);
    const arrows = this.startedBy(bar)
      .slice(0, MOST_ARROWS)
      .map((to) => ({ from: bar, to }));
    if (launch) arrows.push({ from: launch, to: bar });
    return arrows.filter(({ from, to }) => shown(from) && shown(to));
  }
  // What a host call, an operator or a module started on the device.
  startedBy(bar) {
    const started = this.links.startedBy(bar);
    if (started.length || bar.track.kind[bar.i] !== this.rows.classes.indexOf("scope")) return started;
    return this.links.inModule(bar, this.rows.lanes, this.rows.texts);
  }
  moduleOf(bar) {
    const scopes = this.rows.classes.indexOf("scope");
    return bar.track.kind[bar.i] === scopes ? null : this.links.moduleOf(bar, this.rows.lanes, scopes);
  }
  jumpTo(bar) {
    this.reveal(bar);
    this.surface.canvas.focus({ preventScroll: true });
  }
  // The details were closed.
  forget(hadFocus) {
    this.selected = null;
    this.arrows = [];
    this.selection.clear();
    this.surface.request();
    if (hadFocus) this.surface.canvas.focus({ preventScroll: true });
  }
  explain(title, parts) {
    this.details.panel.show(title, ...parts);
  }

  // The bar that keys start from: the selected one, or the one closest to the middle of the first visible row.
  startOfKeys() {
    if (this.selected) return this.selected;
    const track = this.tracks.find((each) => this.isVisible(this.trackTop(each)));
    if (!track) return null;
    const i = firstAtLeast(track.end, (this.range.low + this.range.high) / 2);
    return { track, i: Math.min(i, track.count - 1), neighbours: 0 };
  }
  stepAlong(direction) {
    const bar = this.startOfKeys();
    if (!bar) return;
    const i = this.selected ? clamp(bar.i + direction, 0, bar.track.count - 1) : bar.i;
    this.reveal({ track: bar.track, i, neighbours: 0 });
  }
  stepAcross(direction) {
    const bar = this.startOfKeys();
    if (!bar) return;
    const shown = this.tracks.filter((track) => this.lanes.tops[track.lane] !== HIDDEN);
    shown.sort((a, b) => this.trackTop(a) - this.trackTop(b));
    const track = this.selected ? shown[clamp(shown.indexOf(bar.track) + direction, 0, shown.length - 1)] : bar.track;
    const i = firstAtLeast(track.end, (bar.track.start[bar.i] + bar.track.end[bar.i]) / 2);
    this.reveal({ track, i: Math.min(i, track.count - 1), neighbours: 0 });
  }
  zoomToChosen() {
    if (this.selection.exists) return this.range.set(this.selection.low, this.selection.high);
    if (!this.selected) return;
    const { track, i } = this.selected;
    const margin = Math.max(track.length(i), 10) * 0.5;
    this.range.set(track.start[i] - margin, track.end[i] + margin);
  }

  beginRange(time) {
    this.selection.begin(time);
    this.choose(null);
    this.selection.begin(time);
  }
  dragRange(time) {
    this.selection.to(time);
    this.surface.request();
  }
  endRange() {
    if (!this.selection.exists) return this.selection.clear();
    this.details.showRange(this.selection.low, this.selection.high);
    this.surface.request();
  }
  // Moves the end of the selected range by a part of what is visible.
  extendRange(part) {
    if (this.selection.anchor === null) {
      const bar = this.selected;
      this.selection.begin(bar ? bar.track.start[bar.i] : (this.range.low + this.range.high) / 2);
    }
    this.selection.to(this.selection.end + part * this.range.span);
    this.endRange();
  }

  toggleMeasure() {
    this.measuring = !this.measuring;
    this.measureButton.setAttribute("aria-pressed", String(this.measuring));
    this.measure.clear();
    this.surface.request();
  }
  mark() {
    const bar = this.selected;
    if (this.pointer) this.addPoint(this.edgeNear(this.pointer.x, this.pointer.y));
    else this.addPoint(bar ? bar.track.start[bar.i] : (this.range.low + this.range.high) / 2);
  }
  addPoint(time) {
    this.measure.add(time);
    if (this.measure.distance !== null)
      this.details.panel.show(
        `Measured: ${durationText(this.measure.distance)}`,
        factList([
          ["from", durationText(Math.min(...this.measure.points))],
          ["to", durationText(Math.max(...this.measure.points))],
        ]),
      );
    this.surface.request();
  }
  // The start or end of the bar at a position if it is close, otherwise the time of the position.
  edgeNear(x, y) {
    const bar = this.barAt(x, y);
    const near = (time) => Math.abs(this.xAt(time) - x) <= 6;
    if (!bar) return this.timeAt(x);
    const { track, i } = bar;
    const edges = [track.start[i], track.end[i]].filter(near);
    edges.sort((a, b) => Math.abs(this.xAt(a) - x) - Math.abs(this.xAt(b) - x));
    return edges.length ? edges[0] : this.timeAt(x);
  }

  dismiss() {
    this.measure.clear();
    if (this.measuring) this.toggleMeasure();
    this.details.panel.close();
    this.selected = null;
    this.arrows = [];
    this.selection.clear();
    super.dismiss();
  }

  // Marks the bars whose label, detail or class contains the text; returns the number of matches.
  search(text) {
    const texts = text ? matchingTexts(this.rows.texts, text) : null;
    const classes = text ? matchingTexts(this.rows.classes, text) : null;
    return this.markWhere(
      text
        ? (track, i) =>
            texts[track.label[i]] || classes[track.kind[i]] || (track.detail[i] >= 0 && texts[track.detail[i]])
        : null,
      -1,
    );
  }

  // Searches as if the text had been typed.
  searchFor(text) {
    this.toolbar.input.value = text;
    this.search(text);
    this.next();
  }

  searchClass(kind) {
    const again = this.markedClass === kind;
    this.toolbar.input.value = "";
    return this.markWhere(again ? null : (track, i) => track.kind[i] === kind, again ? -1 : kind);
  }

  markWhere(matches, kind) {
    this.markedClass = kind;
    for (const [i, { button }] of this.swatches.entries()) button.setAttribute("aria-pressed", String(i === kind));
    let count = 0;
    for (const track of this.tracks) {
      if (this.lanes.tops[track.lane] === HIDDEN) track.mark(() => false);
      else if (matches) count += track.mark((i) => matches(track, i));
      else track.hits = null;
    }
    this.matches = matches ? this.matchesInOrder(count) : null;
    this.match = -1;
    this.toolbar.showMatches(-1, count, Boolean(matches));
    this.surface.request();
    return count;
  }

  // Track and index of every match, sorted by start.
  matchesInOrder(count) {
    const starts = new Float64Array(count);
    const tracks = new Uint32Array(count);
    const indices = new Uint32Array(count);
    let next = 0;
    this.tracks.forEach((track, number) => {
      for (let i = 0; i < track.count; ++i) {
        if (!track.found(i)) continue;
        starts[next] = track.start[i];
        tracks[next] = number;
        indices[next++] = i;
      }
    });
    const order = Uint32Array.from({ length: count }, (_, i) => i).sort((a, b) => starts[a] - starts[b] || a - b);
    return { count, at: (n) => ({ track: this.tracks[tracks[order[n]]], i: indices[order[n]], neighbours: 0 }) };
  }

  currentMatch() {
    return this.matches && this.match >= 0 ? this.matches.at(this.match) : null;
  }

  // Selects the next (or previous) match and shows its details; returns its index, or -1.
  next(direction = 1) {
    if (!this.matches || this.matches.count === 0) return -1;
    const { count } = this.matches;
    this.match = this.match < 0 ? (direction > 0 ? 0 : count - 1) : (this.match + direction + count) % count;
    this.toolbar.showMatches(this.match, count, true);
    this.reveal(this.matches.at(this.match));
    return this.match;
  }

  // Makes a bar readable, with its surroundings, and shows its details.
  reveal(bar) {
    const { track, i } = bar;
    const length = track.length(i);
    const middle = (track.start[i] + track.end[i]) / 2;
    const share = length / this.range.span;
    const readable = share * this.plot.width >= 12 && share <= 0.8;
    const span = readable ? this.range.span : Math.max(length * 12, 200, this.range.smallest);
    if (!readable || track.start[i] < this.range.low || track.end[i] > this.range.high)
      this.range.set(middle - span / 2, middle + span / 2);
    const top = this.laneTop[track.lane] + track.row * ROW;
    if (top < this.scroll || top + ROW > this.scroll + this.plot.height)
      this.scrollBy(top - this.scroll - this.plot.height / 2);
    this.choose(bar);
  }
}
