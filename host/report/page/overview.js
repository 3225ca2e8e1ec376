// SPDX-License-Identifier: Apache-2.0
// A strip with the whole range above a chart. The visible window can be dragged and resized.

import { element, pageColours, prefersDark, Surface } from "./canvas.js";
import { onKey } from "./input.js";
import { clamp } from "./units.js";

const STRIP = 46;
const GRIP = 6;

export class Overview {
  // `paint(context, left, width, height)` draws the whole range. It is called again when `key()` changes.
  constructor(view, label, paint, key) {
    Object.assign(this, { view, paint, key, grabbed: null });
    this.box = element("div", { className: "kymo-overview" });
    view.strips.append(this.box);
    this.surface = new Surface(this.box, `${label}: the visible window; arrow keys move it, + and − resize it`, () =>
      this.frame(),
    );
    const canvas = this.surface.canvas;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"])
      canvas.addEventListener(end, () => {
        this.grabbed = null;
      });
    canvas.addEventListener("dblclick", () => view.reset());
    canvas.addEventListener("keydown", (event) => onKey(view, event));
    view.range.listeners.push(() => this.surface.request());
  }
  get left() {
    return this.view.plot.left;
  }
  get width() {
    return this.view.plot.width;
  }
  xAt(time) {
    const { first, last } = this.view.range;
    return this.left + ((time - first) / (last - first)) * this.width;
  }
  timeAt(x) {
    const { first, last } = this.view.range;
    return first + ((x - this.left) / this.width) * (last - first);
  }

  down(event) {
    if (event.button !== 0) return;
    this.surface.canvas.setPointerCapture(event.pointerId);
    const { range } = this.view;
    const x = event.offsetX;
    const [low, high] = [this.xAt(range.low), this.xAt(range.high)];
    if (Math.abs(x - low) <= GRIP) this.grabbed = { edge: "low" };
    else if (Math.abs(x - high) <= GRIP) this.grabbed = { edge: "high" };
    else {
      const inside = x > low && x < high;
      this.grabbed = { offset: inside ? this.timeAt(x) - range.low : range.span / 2 };
    }
    this.move(event);
  }
  move(event) {
    if (!this.grabbed) return;
    const { range } = this.view;
    const time = clamp(this.timeAt(event.offsetX), range.first, range.last);
    if (this.grabbed.edge === "low") range.set(Math.min(time, range.high - range.smallest), range.high);
    else if (this.grabbed.edge === "high") range.set(range.low, Math.max(time, range.low + range.smallest));
    else range.set(time - this.grabbed.offset, time - this.grabbed.offset + range.span);
  }

  frame() {
    const context = this.surface.begin(STRIP);
    const ink = pageColours();
    this.repaint();
    context.drawImage(this.picture, 0, 0, this.surface.width, STRIP);
    const [low, high] = [this.xAt(this.view.range.low), this.xAt(this.view.range.high)];
    context.fillStyle = ink.page;
    context.globalAlpha = 0.65;
    context.fillRect(this.left, 0, low - this.left, STRIP);
    context.fillRect(high, 0, this.left + this.width - high, STRIP);
    context.globalAlpha = 1;
    context.strokeStyle = ink.accent;
    context.lineWidth = 1.5;
    context.strokeRect(low + 0.75, 1, Math.max(2, high - low - 1.5), STRIP - 2);
    context.fillStyle = ink.accent;
    for (const x of [low, high])
      context.fillRect(clamp(x - 2, this.left, this.left + this.width - 4), STRIP / 3, 4, STRIP / 3);
  }
  // The whole range in an image of its own: it is drawn once, not in each frame.
  repaint() {
    const { width, scale } = this.surface;
    const key = [width, scale, this.left, this.width, prefersDark.matches, this.key()].join();
    if (this.painted === key) return;
    this.painted = key;
    this.picture = element("canvas", { width: Math.round(width * scale), height: Math.round(STRIP * scale) });
    const context = this.picture.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    this.paint(context, this.left, this.width, STRIP);
  }
}
