// SPDX-License-Identifier: Apache-2.0
// Collects the rectangles of a frame: adjacent cells with the same appearance are merged, labels are drawn last.

import { FONT, textOn } from "./canvas.js";
import { ROW } from "./lanes.js";
import { clamp } from "./units.js";

export class Painter {
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
