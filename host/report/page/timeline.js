// SPDX-License-Identifier: Apache-2.0
// Timeline: bars in lanes.

const AXIS = 38;
const TALLEST = 640;
const MOST_CELLS = 4000;
const MOST_ARROWS = 60;

class TimelineView extends View {
  // With `shared`, a range, the timeline is part of another chart: it has no pickers, no overview and no help.
  constructor(root, rows, shared) {
    const { tracks, counters, extents } = loaded(rows);
    const extent = extents.get(rows.lanes[0]?.run);
    super(
      root,
      shared || new Range(extent.first, extent.last, 20),
      rows.caption || "Events",
      "Search labels and details",
    );
    Object.assign(this, { rows, tracks, counters, extents, selected: null, matches: null, match: -1, scroll: 0 });
    Object.assign(this, { shared, steps: [], step: undefined, arrows: [] });
    this.zero = rows.panels || shared ? "" : "the first event";
    this.lanes = new Lanes(rows.lanes, counters);
    this.selection = new RangeSelection(this);
    this.measure = new Measure(this);
    this.addLegend();
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
  get laneTop() {
    return this.lanes.tops;
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

  addLegend() {
    const colours = this.rows.palette.length;
    const legend = element("div", { className: "kymo-legend" });
    this.swatches = [];
    this.rows.classes.forEach((name, i) => {
      const swatch = element("i");
      const button = element("button", { type: "button", onclick: () => this.searchClass(i) }, swatch, name);
      button.setAttribute("aria-pressed", "false");
      if (i < colours * 3) legend.append(button);
      this.swatches.push({ swatch, button });
    });
    const hidden = this.rows.classes.length - colours * 3;
    if (hidden > 0) legend.append(element("span", { textContent: `and ${countText(hidden)} more` }));
    this.root.append(legend);
  }

  colourOf(kind) {
    return this.rows.colours[kind];
  }
  trackTop(track) {
    return this.plot.top + this.laneTop[track.lane] + track.row * ROW - this.scroll;
  }
  get content() {
    return this.lanes.height;
  }
  isVisible(top) {
    return top + ROW > this.plot.top && top < this.plot.top + this.plot.height;
  }
  scrolls() {
    return this.content > this.plot.height;
  }
  scrollBy(pixels) {
    this.scroll = clamp(this.scroll + pixels, 0, Math.max(0, this.content - this.plot.height));
    this.surface.request();
  }
  reset() {
    this.scroll = 0;
    this.range.reset();
  }

  // Draws the frame; returns statistics for tests.
  frame() {
    const began = performance.now();
    const height = Math.min(TALLEST, this.content + AXIS);
    const context = this.surface.begin(height);
    const ink = pageColours();
    const palette = paletteOf(this.rows.palette);
    this.swatches.forEach(({ swatch }, i) => (swatch.style.background = palette[this.colourOf(i)]));
    const left = this.shared ? Y_MARGIN : this.marginWidth(context);
    this.plot = { left, top: 2, width: this.surface.width - left - RIGHT_MARGIN, height: height - AXIS };
    this.scroll = clamp(this.scroll, 0, Math.max(0, this.content - this.plot.height));
    drawTimeAxis(context, this.range, this.plot, ink, (low, high, target) => timeTicks(low, high, target, this.zero));
    const drawn = this.drawTracks(context, palette, ink);
    this.drawMargin(context, ink);
    this.drawScrollbar(context, ink);
    return { ...drawn, milliseconds: performance.now() - began };
  }

  marginWidth(context) {
    const { lines } = this.lanes;
    if (this.marginOf !== lines) {
      this.marginOf = lines;
      this.margin = Math.max(
        ...lines
          .filter((line) => !line.panel)
          .map((line) => context.measureText(line.text).width + (line.heading ? 12 : 22)),
        60,
      );
    }
    return Math.min(this.margin, 220, this.surface.width * 0.3);
  }

  drawTracks(context, palette, ink) {
    const { plot } = this;
    const visible = this.tracks.filter((track) => this.isVisible(this.trackTop(track)));
    // The visible rows share a budget of rectangles, so cells become wider with more rows.
    const cellPixels = Math.max(1, Math.ceil((visible.length * plot.width) / MOST_CELLS));
    const painter = new Painter(context, palette, this);
    context.save();
    context.beginPath();
    context.rect(plot.left, plot.top, plot.width, plot.height);
    context.clip();
    for (const track of visible) this.drawTrack(track, painter, cellPixels);
    this.counters.forEach((counter, i) => {
      const top = plot.top + this.lanes.counterTops[i] - this.scroll;
      if (top + COUNTER > plot.top && top < plot.top + plot.height) counter.draw(context, this, top, ink);
    });
    painter.drawLabels(ink);
    this.selection.draw(context, ink);
    this.drawArrows(context, ink);
    this.drawMarks(context, ink);
    this.measure.draw(context, ink);
    context.restore();
    return { rectangles: painter.rectangles, bars: painter.bars };
  }

  drawTrack(track, painter, cellPixels) {
    const { low, high, span } = this.range;
    const cell = (cellPixels * span) / this.plot.width;
    const top = this.trackTop(track);
    painter.startTrack(top + 1, ROW - 2);
    track.visit(
      low,
      high,
      cell,
      (i) => painter.bar(track, i, this.xAt(track.start[i]), this.xAt(track.end[i]), top),
      (from, to, number) => {
        const covered = (track.busy[to] - track.busy[from]) / cell;
        painter.group(track, from, to, this.plot.left + number * cellPixels, cellPixels, covered);
      },
    );
    painter.endTrack();
  }

  // Draws frames around the pinned bar and the current match.
  drawMarks(context, ink) {
    const mark = (at, colour) => {
      if (!at) return;
      const x = this.xAt(at.track.start[at.i]);
      const width = Math.max(3, this.xAt(at.track.end[at.i]) - x);
      context.strokeStyle = colour;
      context.lineWidth = 2;
      context.strokeRect(x - 1, this.trackTop(at.track), width + 2, ROW);
    };
    mark(this.currentMatch(), ink.accent);
    mark(this.selected, ink.ink);
  }

  // Lines from the selected bar to its launch and to what it started.
  drawArrows(context, ink) {
    context.strokeStyle = context.fillStyle = ink.ink;
    context.lineWidth = 1.2;
    for (const { from, to } of this.arrows) {
      const x0 = this.xAt(Math.min(from.track.end[from.i], to.track.start[to.i]));
      const x1 = this.xAt(to.track.start[to.i]);
      const y0 = this.trackTop(from.track) + ROW / 2;
      const y1 = this.trackTop(to.track) + ROW / 2;
      const bend = clamp((x1 - x0) / 2, 12, 60);
      context.beginPath();
      context.moveTo(x0, y0);
      context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 5, y1);
      context.stroke();
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(x1 - 6, y1 - 3.5);
      context.lineTo(x1 - 6, y1 + 3.5);
      context.fill();
    }
  }

  // Every lane in the height of the overview, drawn without gaps.
  paintOverview(context, left, width, height) {
    const palette = paletteOf(this.rows.palette);
    const shown = this.tracks.filter((track) => this.lanes.tops[track.lane] !== HIDDEN);
    const row = height / Math.max(1, shown.length);
    const { first, last } = this.range;
    const whole = {
      plot: { left, width },
      matches: null,
      rows: this.rows,
      colourOf: (kind) => this.colourOf(kind),
    };
    const painter = new Painter(context, palette, whole);
    const cell = (last - first) / Math.max(1, Math.min(width, MOST_CELLS / shown.length));
    const x = (time) => left + ((time - first) / (last - first)) * width;
    const cellPixels = (cell / (last - first)) * width;
    shown.forEach((track, number) => {
      painter.startTrack(number * row, Math.max(1, row - 0.5));
      track.visit(
        first,
        last,
        cell,
        (i) => painter.bar(track, i, x(track.start[i]), x(track.end[i]), 0),
        (from, to, at) =>
          painter.group(
            track,
            from,
            to,
            left + at * cellPixels,
            cellPixels,
            (track.busy[to] - track.busy[from]) / cell,
          ),
      );
      painter.endTrack();
    });
    context.globalAlpha = 1;
  }

  drawMargin(context, ink) {
    const { plot } = this;
    context.save();
    context.beginPath();
    context.rect(0, plot.top, this.surface.width, plot.height);
    context.clip();
    context.textAlign = "left";
    for (const line of this.lanes.lines) {
      const y = plot.top + line.y - this.scroll;
      if (line.heading || line.panel) {
        context.fillStyle = line.panel ? ink.raised : ink.rule;
        context.fillRect(0, plot.top + line.top - this.scroll, this.surface.width, line.panel ? PANEL - 4 : 1);
      }
      const lane = !line.heading && !line.panel;
      context.font = lane ? FONT : `600 ${FONT}`;
      context.fillStyle = lane ? ink.muted : ink.ink;
      const room = line.panel ? this.surface.width - 16 : plot.left - (lane ? 18 : 8);
      const rows = this.surface.wrapped(line.text, room, line.rows ?? 1);
      const top = y - ((rows.length - 1) * NAME_ROW) / 2;
      rows.forEach((text, row) => context.fillText(text, lane ? 12 : line.panel ? 6 : 2, top + row * NAME_ROW));
    }
    context.restore();
  }

  drawScrollbar(context, ink) {
    const { plot } = this;
    if (!this.scrolls()) return;
    const size = Math.max(20, (plot.height * plot.height) / this.content);
    const thumb = (this.scroll / (this.content - plot.height)) * (plot.height - size);
    context.fillStyle = ink.muted;
    context.globalAlpha = 0.5;
    context.fillRect(this.surface.width - 5, plot.top + thumb, 4, size);
    context.globalAlpha = 1;
  }

  // The bar at a position, or the longest of those that share its pixel.
  barAt(x, y) {
    if (x < this.plot.left || y < this.plot.top || y > this.plot.top + this.plot.height) return null;
    const track = this.tracks.find((each) => y >= this.trackTop(each) && y < this.trackTop(each) + ROW);
    if (!track) return null;
    const pixel = this.range.span / this.plot.width;
    const from = firstAtLeast(track.end, this.timeAt(x) - pixel * 1.5);
    const to = firstAbove(track.start, this.timeAt(x) + pixel * 1.5, from);
    return from < to ? { track, i: track.longestOf(from, to), neighbours: to - from - 1 } : null;
  }

  facts({ track, i, neighbours }) {
    const { texts, classes, lanes } = this.rows;
    const lane = lanes[track.lane];
    const label = texts[track.label[i]];
    const detail = track.detail[i] >= 0 ? texts[track.detail[i]] : "";
    const lines = [
      ["", label],
      ["duration", durationText(track.length(i))],
      ["start", durationText(track.start[i]) + (this.zero && ` after ${this.zero}`)],
    ];
    if (track.step[i] >= 0) lines.push(["step", String(track.step[i])]);
    if (track.phase[i] >= 0 && texts[track.phase[i]]) lines.push(["phase", texts[track.phase[i]]]);
    if (track.scope[i] >= 0 && texts[track.scope[i]] && texts[track.scope[i]] !== label)
      lines.push(["module", texts[track.scope[i]]]);
    if (classes[track.kind[i]] !== label) lines.push(["class", classes[track.kind[i]]]);
    lines.push(["lane", [this.lanes.titleOf(lane), lane.group, lane.name].filter(Boolean).join(": ")]);
    if (detail && detail !== label) lines.push(["detail", detail]);
    if (neighbours > 2) lines.push(["", `and ${countText(neighbours)} shorter bars; zoom in to see them`]);
    return lines;
  }
  counterFacts(y, time) {
    const i = this.lanes.counterTops.findIndex((top) => {
      const at = this.plot.top + top - this.scroll;
      return y >= at && y < at + COUNTER;
    });
    const value = i < 0 ? undefined : this.counters[i].at(time);
    if (value === undefined) return null;
    return [
      ["", this.counters[i].name],
      ["value", this.counters[i].text(value)],
      ["at", durationText(time)],
    ];
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
    this.swatches.forEach(({ button }, i) => button.setAttribute("aria-pressed", String(i === kind)));
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

// Tracks and counters, with the first event of each run at zero, and the time of its last one.
function loaded(rows) {
  const runs = new Map();
  for (const each of rows.tracks) {
    const { run } = rows.lanes[each.lane];
    const known = runs.get(run) || { low: Infinity, high: 0 };
    let start = 0;
    each.start.forEach((difference, i) => {
      start += difference;
      known.high = Math.max(known.high, start + each.length[i]);
    });
    known.low = Math.min(known.low, each.start[0]);
    runs.set(run, known);
  }
  const shift = (run) => (runs.size > 1 ? runs.get(run)?.low || 0 : 0);
  const tracks = rows.tracks.map((each) => new Track(each, shift(rows.lanes[each.lane].run)));
  const counters = (rows.counters || []).map((each) => new Counter(each, shift(each.run)));
  const extents = new Map(
    [...runs].map(([run, { high }]) => [run, { first: 0, last: Math.max(1, high - shift(run)) }]),
  );
  return { tracks, counters, extents };
}
