// SPDX-License-Identifier: Apache-2.0
// Keyboard, wheel and pointers.

import { clamp } from "./units.js";

const KEY_PAN = { a: -0.15, arrowleft: -0.15, d: 0.15, arrowright: 0.15 };
const KEY_ZOOM = { w: 1 / 1.4, "+": 1 / 1.4, "=": 1 / 1.4, s: 1.4, "-": 1.4, _: 1.4 };
const KEY_SCROLL = { arrowup: -40, arrowdown: 40, pageup: -240, pagedown: 240 };

// What keys do with the bars of a timeline.
const KEY_BAR = {
  ",": (view) => view.stepAlong(-1),
  ".": (view) => view.stepAlong(1),
  j: (view) => view.stepAcross(1),
  k: (view) => view.stepAcross(-1),
  f: (view) => view.zoomToChosen(),
  m: (view) => view.mark(),
};

export function onKey(view, event) {
  const key = event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.shiftKey && (key === "w" || key === "s")) view.zoomValues(KEY_ZOOM[key]);
  else if (event.shiftKey && (key === "arrowleft" || key === "arrowright")) view.extendRange(KEY_PAN[key] / 5);
  else if (key in KEY_BAR) KEY_BAR[key](view);
  else if (key in KEY_PAN) view.range.pan(KEY_PAN[key]);
  else if (key in KEY_ZOOM) view.range.zoom(KEY_ZOOM[key], view.pointerTime());
  else if (key in KEY_SCROLL && view.scrolls()) view.scrollBy(KEY_SCROLL[key]);
  else if (key === "0" || key === "home") view.reset();
  else if (key === "/" && view.toolbar.bar.contains(view.toolbar.input)) view.toolbar.input.focus();
  else if (key === "n") view.next(event.shiftKey ? -1 : 1);
  else if (key === "escape") view.dismiss();
  else return;
  event.preventDefault();
}

// The wheel scrolls the page until the chart is clicked or Ctrl is held.
function onWheel(view, event) {
  const canvas = view.surface.canvas;
  const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
  const zooms = event.ctrlKey || event.metaKey || document.activeElement === canvas;
  if (!sideways && !zooms) return;
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 24 : 1;
  if (sideways && !event.ctrlKey) view.range.pan(((event.deltaX || event.deltaY) * lines) / view.plot.width);
  else
    view.range.zoom(
      Math.exp(clamp(event.deltaY * lines, -200, 200) * (event.ctrlKey ? 0.008 : 0.003)),
      view.timeAt(event.offsetX),
    );
}

// Dragging pans, dragging with Shift selects a range, two fingers zoom, a press without movement is a click.
export class PointerControl {
  constructor(view) {
    this.view = view;
    this.fingers = new Map();
    const canvas = view.surface.canvas;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.fingers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => view.leave());
    canvas.addEventListener("wheel", (event) => onWheel(view, event), { passive: false });
    canvas.addEventListener("keydown", (event) => onKey(view, event));
    canvas.addEventListener("dblclick", (event) => view.range.zoom(0.4, view.timeAt(event.offsetX)));
  }
  down(event) {
    if (event.button !== 0) return;
    this.view.surface.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.moved = this.fingers.size > 1;
    this.selecting = event.shiftKey && this.fingers.size === 1;
    if (this.selecting) this.view.beginRange(this.view.timeAt(event.offsetX));
  }
  move(event) {
    const view = this.view;
    const before = this.fingers.get(event.pointerId);
    if (!before) return view.hover(event.offsetX, event.offsetY);
    const now = { x: event.offsetX, y: event.offsetY };
    if (!this.moved && Math.hypot(now.x - before.x, now.y - before.y) < 4) return;
    this.moved = true;
    if (this.selecting) return view.dragRange(view.timeAt(event.offsetX));
    const other = [...this.fingers].find(([id]) => id !== event.pointerId);
    if (other) this.pinch(before, now, other[1]);
    else {
      view.range.pan((before.x - now.x) / view.plot.width);
      view.scrollBy(before.y - now.y);
    }
    this.fingers.set(event.pointerId, now);
  }
  pinch(before, now, other) {
    const distance = (finger) => Math.max(10, Math.abs(finger.x - other.x));
    this.view.range.zoom(distance(before) / distance(now), this.view.timeAt(other.x));
  }
  up(event) {
    const pressed = this.fingers.delete(event.pointerId);
    if (this.selecting) this.view.endRange();
    else if (pressed && !this.moved) this.view.click(event.offsetX, event.offsetY);
    this.selecting = false;
  }
}
