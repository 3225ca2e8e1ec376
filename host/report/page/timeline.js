// SPDX-License-Identifier: Apache-2.0
// Timeline: bars in lanes.

const ROW = 18;
const LANE_GAP = 5;
const HEADING = 22;
const RULE = 6;
const PANEL = 26;
const PANEL_GAP = 10;
const AXIS = 38;
const TALLEST = 640;
const MOST_CELLS = 4000;

class TimelineView extends View {
  constructor(root, rows) {
    const tracks = rows.tracks.map((each) => new Track(each));
    let last = 1;
    for (const track of tracks) for (const end of track.end) if (end > last) last = end;
    super(root, new Range(0, last, 20), rows.caption, "Search labels and details");
    this.zero = rows.panels ? "" : "the first event";
    Object.assign(this, { rows, tracks, selected: null, matches: null, match: -1, scroll: 0 });
    this.placeLanes();
    this.addLegend();
    addHelp(
      root,
      "Click the chart to enable its shortcuts: zoom with the wheel or W/S, pan by dragging or with A/D and the " +
        "arrow keys, show everything with 0, search with /, select the next match with Enter. Ctrl + wheel zooms " +
        "without a click.",
    );
  }

  placeLanes() {
    this.lines = [];
    this.laneTop = [];
    let y = 2;
    this.rows.lanes.forEach((lane, i) => {
      const last = i === 0 ? {} : this.rows.lanes[i - 1];
      const opens = lane.panel !== last.panel;
      if (opens) {
        y += i === 0 ? 0 : PANEL_GAP;
        this.lines.push({ text: lane.panel, panel: true, y: y + (PANEL - 4) / 2, top: y });
        y += PANEL;
      }
      if (lane.group !== (opens ? "" : last.group || "")) {
        const height = lane.group ? HEADING : RULE;
        this.lines.push({ text: lane.group, heading: true, y: y + height / 2 + 2, top: y });
        y += height;
      }
      this.lines.push({ text: lane.name, heading: false, y: y + ROW / 2, top: y });
      this.laneTop.push(y);
      y += lane.rows * ROW + LANE_GAP;
    });
    this.content = y + 2;
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
    return Math.min(kind, this.rows.palette.length - 1);
  }
  trackTop(track) {
    return this.plot.top + this.laneTop[track.lane] + track.row * ROW - this.scroll;
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
    const left = this.marginWidth(context);
    this.plot = { left, top: 2, width: this.surface.width - left - 8, height: height - AXIS };
    this.scroll = clamp(this.scroll, 0, Math.max(0, this.content - this.plot.height));
    drawTimeAxis(context, this.range, this.plot, ink, (low, high, target) => timeTicks(low, high, target, this.zero));
    const drawn = this.drawTracks(context, palette, ink);
    this.drawMargin(context, ink);
    this.drawScrollbar(context, ink);
    return { ...drawn, milliseconds: performance.now() - began };
  }

  marginWidth(context) {
    if (this.margin === undefined) {
      this.margin = Math.max(
        ...this.lines
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
    painter.drawLabels(ink);
    this.drawMarks(context, ink);
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

  drawMargin(context, ink) {
    const { plot } = this;
    context.save();
    context.beginPath();
    context.rect(0, plot.top, this.surface.width, plot.height);
    context.clip();
    context.textAlign = "left";
    for (const line of this.lines) {
      const y = plot.top + line.y - this.scroll;
      if (line.heading || line.panel) {
        context.fillStyle = line.panel ? ink.raised : ink.rule;
        context.fillRect(0, plot.top + line.top - this.scroll, this.surface.width, line.panel ? PANEL - 4 : 1);
      }
      const lane = !line.heading && !line.panel;
      context.font = lane ? FONT : `600 ${FONT}`;
      context.fillStyle = lane ? ink.muted : ink.ink;
      const room = line.panel ? this.surface.width - 16 : plot.left - (lane ? 18 : 8);
      context.fillText(this.surface.fitted(line.text, room), lane ? 12 : line.panel ? 6 : 2, y);
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
    const lines = [
      ["", texts[track.label[i]]],
      ["duration", durationText(track.length(i))],
      ["start", durationText(track.start[i]) + (this.zero && ` after ${this.zero}`)],
      ["class", classes[track.kind[i]]],
      ["lane", [lane.panel, lane.group, lane.name].filter(Boolean).join(": ")],
    ];
    if (track.detail[i] >= 0) lines.push(["detail", texts[track.detail[i]]]);
    if (neighbours > 2) lines.push(["", `and ${countText(neighbours)} shorter bars; zoom in to see them`]);
    return lines;
  }

  hover(x, y) {
    this.pointer = { x, y };
    if (this.tooltip.pinned) return;
    const bar = this.barAt(x, y);
    this.surface.canvas.style.cursor = bar ? "pointer" : "default";
    if (bar) this.tooltip.show(this.facts(bar), x, y);
    else this.tooltip.hide();
  }

  click(x, y) {
    const bar = this.barAt(x, y);
    this.tooltip.pin(false);
    this.selected = bar;
    if (bar) {
      this.tooltip.show(this.facts(bar), x, y);
      this.tooltip.pin(true);
    } else {
      this.tooltip.hide();
    }
    this.surface.request();
  }

  dismiss() {
    this.selected = null;
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
      if (matches) count += track.mark((i) => matches(track, i));
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

  reveal(bar) {
    const { track, i } = bar;
    const middle = (track.start[i] + track.end[i]) / 2;
    const readable = (track.length(i) / this.range.span) * this.plot.width >= 12;
    const span = readable ? this.range.span : Math.max(track.length(i) * 12, this.range.smallest);
    if (!readable || track.start[i] < this.range.low || track.end[i] > this.range.high)
      this.range.set(middle - span / 2, middle + span / 2);
    const top = this.laneTop[track.lane] + track.row * ROW;
    if (top < this.scroll || top + ROW > this.scroll + this.plot.height)
      this.scrollBy(top - this.scroll - this.plot.height / 2);
    this.selected = null;
    this.tooltip.show(
      this.facts(bar),
      clamp(this.xAt(middle), this.plot.left, this.plot.left + this.plot.width),
      this.trackTop(track) + ROW / 2,
    );
    this.tooltip.pin(true);
    this.surface.request();
  }
}

// Collects the rectangles of a frame: adjacent cells with the same appearance are merged, labels are drawn last.
class Painter {
  constructor(context, palette, view) {
    Object.assign(this, {
      context,
      palette,
      view,
      rectangles: 0,
      bars: 0,
      labels: [],
      run: null,
      searching: view.matches !== null,
    });
  }
  startTrack(top, height) {
    Object.assign(this, { top, height });
  }
  rectangle(x, width, colour, alpha) {
    const context = this.context;
    const style = this.palette[colour];
    if (context.fillStyle !== style) context.fillStyle = style;
    if (context.globalAlpha !== alpha) context.globalAlpha = alpha;
    context.fillRect(x, this.top, width, this.height);
    ++this.rectangles;
  }
  bar(track, i, x0, x1, top) {
    this.endTrack();
    ++this.bars;
    const { plot } = this.view;
    const left = Math.max(x0, plot.left - 2);
    const width = Math.max(0.7, Math.min(x1, plot.left + plot.width + 2) - left);
    const found = track.found(i);
    const colour = this.view.colourOf(track.kind[i]);
    this.rectangle(left, width > 4 ? width - 0.6 : width, colour, found ? 1 : 0.16);
    if (width > 26)
      this.labels.push([this.view.rows.texts[track.label[i]], Math.max(left, plot.left), width, top, colour, found]);
  }
  group(track, from, to, x, width, covered) {
    this.bars += to - from;
    const found = track.hits === null || track.hits[to] > track.hits[from];
    const colour = this.view.colourOf(track.kind[track.longestOf(from, to)]);
    // A sparsely covered pixel is paler, in four steps, but always visible.
    const alpha = this.searching ? (found ? 1 : 0.16) : 0.4 + 0.15 * Math.ceil(clamp(covered, 0.01, 1) * 4);
    const run = this.run;
    if (run && run.colour === colour && run.alpha === alpha && Math.abs(run.x + run.width - x) < 0.01) {
      run.width += width;
      return;
    }
    this.endTrack();
    this.run = { x, width, colour, alpha };
  }
  endTrack() {
    if (this.run) this.rectangle(this.run.x, this.run.width, this.run.colour, this.run.alpha);
    this.run = null;
  }
  drawLabels(ink) {
    const context = this.context;
    context.font = FONT.replace("12px", "11px");
    context.textAlign = "left";
    for (const [text, x, width, top, colour, found] of this.labels) {
      const shown = this.view.surface.fitted(text, width - 8);
      if (!shown) continue;
      context.globalAlpha = found ? 1 : 0.5;
      context.fillStyle = found ? textOn(this.palette[colour]) : ink.ink;
      context.fillText(shown, x + 4, top + ROW / 2 + 0.5);
    }
    context.globalAlpha = 1;
  }
}

function addHelp(root, text) {
  root.append(element("p", { className: "kymo-help", textContent: text }));
}
