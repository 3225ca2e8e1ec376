// SPDX-License-Identifier: Apache-2.0
// Colors of the page, and a canvas with a time axis.

import { clamp } from "./units.js";

export const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

export function pageColours() {
  const style = getComputedStyle(document.documentElement);
  const named = (name, fallback) => style.getPropertyValue(name).trim() || fallback;
  return {
    ink: named("--ink", "#1f2328"),
    muted: named("--muted", "#5c6670"),
    rule: named("--rule", "#d8dee4"),
    page: named("--page", "#ffffff"),
    raised: named("--raised", "#f6f8fa"),
    accent: named("--accent", "#0b62b0"),
  };
}

export const paletteOf = (pairs) =>
  pairs.map(([light, dark]) => `#${prefersDark.matches ? dark : light}`.toLowerCase());

export function channels(colour) {
  const number = parseInt(colour.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

// Black or white, whichever is more readable on the color.
export function textOn(colour) {
  const [red, green, blue] = channels(colour);
  return 0.299 * red + 0.587 * green + 0.114 * blue < 140 ? "#ffffff" : "#16191d";
}

export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// Around the plot, so that charts with the same range are aligned.
export const Y_MARGIN = 76;
export const RIGHT_MARGIN = 10;
export const AXIS = 38; // height of a time axis

export const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif';

// A canvas that follows the width of its parent and the screen resolution, and draws at most once per frame.
export class Surface {
  constructor(parent, label, draw) {
    this.canvas = element("canvas", { tabIndex: 0 });
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", label);
    this.context = this.canvas.getContext("2d");
    this.draw = draw;
    this.width = 0;
    this.height = 0;
    this.widths = new Map();
    parent.append(this.canvas);
    if (window.ResizeObserver) new ResizeObserver(() => this.request()).observe(parent);
    prefersDark.addEventListener("change", () => this.request());
  }
  request() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => this.now());
  }
  now() {
    this.pending = false;
    this.draw();
  }
  // Prepares an empty picture of this height.
  begin(height) {
    const scale = Math.min(3, window.devicePixelRatio || 1);
    const width = Math.max(240, this.canvas.parentElement.clientWidth);
    if (width !== this.width || height !== this.height || scale !== this.scale) {
      Object.assign(this, { width, height, scale });
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
      this.canvas.style.height = `${height}px`;
    }
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.context.clearRect(0, 0, width, height);
    this.context.font = FONT;
    this.context.textBaseline = "middle";
    return this.context;
  }
  // The text shortened to this many pixels; empty if too little fits.
  fitted(text, pixels) {
    const key = this.context.font + text;
    let width = this.widths.get(key);
    if (width === undefined) {
      if (this.widths.size > 20000) this.widths.clear();
      width = this.context.measureText(text).width;
      this.widths.set(key, width);
    }
    if (width <= pixels) return text;
    for (let letters = Math.ceil((text.length * pixels) / width); letters > 1; --letters) {
      const shorter = `${text.slice(0, letters)}…`;
      if (this.context.measureText(shorter).width <= pixels) return shorter;
    }
    return "";
  }
  // The words of the text in at most so many rows of this many pixels, each shortened if it must be.
  wrapped(text, pixels, most) {
    const rows = [];
    for (const word of text.split(" ")) {
      const longer = rows.length ? `${rows.at(-1)} ${word}` : word;
      const isLast = rows.length === most;
      if (isLast || (rows.length && this.fitted(longer, pixels) === longer)) rows[rows.length - 1] = longer;
      else rows.push(word);
    }
    return rows.map((row) => this.fitted(row, pixels));
  }
}

// Draws grid lines and labels of a time axis below a plot.
export function drawTimeAxis(context, range, plot, ink, format) {
  const { ticks, heading } = format(range.low, range.high, plot.width / 110);
  context.textAlign = "center";
  for (const tick of ticks) {
    const x = Math.round(plot.left + ((tick.value - range.low) / range.span) * plot.width) + 0.5;
    if (x < plot.left || x > plot.left + plot.width + 1) continue;
    context.fillStyle = ink.rule;
    context.fillRect(x - 0.5, plot.top, 1, plot.height);
    context.fillStyle = ink.muted;
    context.fillText(tick.label, clamp(x, plot.left + 10, plot.left + plot.width - 16), plot.top + plot.height + 12);
  }
  context.fillStyle = ink.ink;
  context.fillRect(plot.left, plot.top + plot.height, plot.width, 1);
  context.fillStyle = ink.muted;
  context.fillText(heading, plot.left + plot.width / 2, plot.top + plot.height + 28);
}
