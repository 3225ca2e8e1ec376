// SPDX-License-Identifier: Apache-2.0
// Common parts of the charts: visible range, canvas, colors, toolbar, tooltip, mouse, touch and keyboard.

// The visible range of the x axis. Charts that share a range move together.
class Range {
  constructor(low, high, smallest) {
    const margin = (high - low) * 0.005;
    this.first = low - margin;
    this.last = high + margin;
    this.smallest = Math.min(smallest, this.last - this.first);
    this.listeners = [];
    this.low = this.first;
    this.high = this.last;
  }
  get span() {
    return this.high - this.low;
  }
  set(low, high) {
    const span = clamp(high - low, this.smallest, this.last - this.first);
    const middle = (low + high) / 2;
    this.low = clamp(middle - span / 2, this.first, this.last - span);
    this.high = this.low + span;
    for (const listener of this.listeners) listener();
  }
  zoom(factor, at = (this.low + this.high) / 2) {
    const span = clamp(this.span * factor, this.smallest, this.last - this.first);
    const part = (at - this.low) / this.span;
    this.set(at - part * span, at + (1 - part) * span);
  }
  pan(part) {
    this.set(this.low + part * this.span, this.high + part * this.span);
  }
  reset() {
    this.set(this.first, this.last);
  }
}

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

function pageColours() {
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

const paletteOf = (pairs) => pairs.map(([light, dark]) => `#${prefersDark.matches ? dark : light}`.toLowerCase());

function channels(colour) {
  const number = parseInt(colour.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

// Black or white, whichever is more readable on the color.
function textOn(colour) {
  const [red, green, blue] = channels(colour);
  return 0.299 * red + 0.587 * green + 0.114 * blue < 140 ? "#ffffff" : "#16191d";
}

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif';

// A canvas that follows the width of its parent and the screen resolution, and draws at most once per frame.
class Surface {
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
      this.widths.set(key, (width = this.context.measureText(text).width));
    }
    if (width <= pixels) return text;
    for (let letters = Math.ceil((text.length * pixels) / width); letters > 1; --letters) {
      const shorter = `${text.slice(0, letters)}…`;
      if (this.context.measureText(shorter).width <= pixels) return shorter;
    }
    return "";
  }
}

// Draws grid lines and labels of a time axis below a plot.
function drawTimeAxis(context, range, plot, ink, format) {
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

// A box with details of the item under the pointer; a click pins it, so that its text can be selected.
class Tooltip {
  constructor(parent) {
    this.box = element("div", { className: "kymo-tip", hidden: true });
    this.box.setAttribute("role", "status");
    this.parent = parent;
    this.pinned = false;
    parent.append(this.box);
  }
  show(lines, x, y) {
    this.box.replaceChildren(
      ...lines.map(([name, text]) =>
        element(
          "div",
          { className: name ? "" : "kymo-tip-title" },
          ...(name ? [element("span", { textContent: name }), " "] : []),
          text,
        ),
      ),
    );
    this.box.hidden = false;
    const room = this.parent.clientWidth - this.box.offsetWidth - 4;
    this.box.style.left = `${clamp(x + 14, 0, Math.max(0, room))}px`;
    this.box.style.top = `${y + 16}px`;
  }
  pin(pinned) {
    this.pinned = pinned;
    this.box.classList.toggle("pinned", pinned);
  }
  hide() {
    if (!this.pinned) this.box.hidden = true;
  }
  close() {
    this.pin(false);
    this.hide();
  }
}

// Buttons above a chart, and a search box if `searchLabel` is given.
class Toolbar {
  constructor(parent, view, searchLabel) {
    this.input = element("input", { type: "search", placeholder: searchLabel, autocomplete: "off", spellcheck: false });
    this.input.setAttribute("aria-label", searchLabel);
    this.count = element("output", { className: "kymo-count" });
    const button = (text, label, act) => {
      const made = element("button", { type: "button", textContent: text, title: label, onclick: act });
      made.setAttribute("aria-label", label);
      return made;
    };
    const searching = [
      this.input,
      button("‹", "Previous match (Shift+Enter)", () => view.next(-1)),
      button("›", "Next match (Enter)", () => view.next(1)),
      this.count,
    ];
    this.bar = element(
      "div",
      { className: "kymo-bar" },
      ...(searchLabel ? searching : []),
      element("span", { className: "kymo-gap" }),
      element(
        "span",
        { className: "kymo-zoom" },
        button("−", "Zoom out (S or −)", () => view.range.zoom(1.6)),
        button("+", "Zoom in (W or +)", () => view.range.zoom(1 / 1.6)),
        button("Reset", "Show everything (0)", () => view.reset()),
      ),
    );
    this.input.addEventListener("input", () => view.search(this.input.value));
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") view.next(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") view.search((this.input.value = ""));
      if (event.key === "Enter" || event.key === "Escape") event.preventDefault();
    });
    parent.append(this.bar);
  }
  showMatches(index, count, active) {
    this.count.textContent = !active
      ? ""
      : count === 0
        ? "no match"
        : `${index < 0 ? "" : `${countText(index + 1)} of `}${countText(count)}${index < 0 ? " found" : ""}`;
  }
}

const KEY_PAN = { a: -0.15, arrowleft: -0.15, d: 0.15, arrowright: 0.15 };
const KEY_ZOOM = { w: 1 / 1.4, "+": 1 / 1.4, "=": 1 / 1.4, s: 1.4, "-": 1.4, _: 1.4 };
const KEY_SCROLL = { arrowup: -40, arrowdown: 40, pageup: -240, pagedown: 240 };

function onKey(view, event) {
  const key = event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.shiftKey && (key === "w" || key === "s")) view.zoomValues(KEY_ZOOM[key]);
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

// Dragging pans, two fingers zoom, a press without movement is a click.
class PointerControl {
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
  }
  move(event) {
    const view = this.view;
    const before = this.fingers.get(event.pointerId);
    if (!before) return view.hover(event.offsetX, event.offsetY);
    const now = { x: event.offsetX, y: event.offsetY };
    if (!this.moved && Math.hypot(now.x - before.x, now.y - before.y) < 4) return;
    this.moved = true;
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
    if (this.fingers.delete(event.pointerId) && !this.moved) this.view.click(event.offsetX, event.offsetY);
  }
}

// Range, tooltip and toolbar of one chart; subclasses implement the chart kinds.
class View {
  constructor(root, range, label, searchLabel) {
    this.root = root;
    this.range = range;
    this.toolbar = new Toolbar(root, this, searchLabel);
    this.stage = element("div", { className: "kymo-stage" });
    root.append(this.stage);
    this.surface = new Surface(this.stage, label, () => this.frame());
    this.tooltip = new Tooltip(this.stage);
    this.plot = { left: 0, top: 0, width: 1, height: 1 };
    this.pointer = null;
    range.listeners.push(() => this.surface.request());
    new PointerControl(this);
  }
  timeAt(x) {
    return this.range.low + ((x - this.plot.left) / this.plot.width) * this.range.span;
  }
  xAt(time) {
    return this.plot.left + ((time - this.range.low) / this.range.span) * this.plot.width;
  }
  pointerTime() {
    return this.pointer ? this.timeAt(this.pointer.x) : undefined;
  }
  zoomTo(low, high) {
    this.range.set(low, high);
  }
  reset() {
    this.range.reset();
  }
  scrolls() {
    return false;
  }
  scrollBy() {}
  zoomValues() {}
  search() {
    return 0;
  }
  next() {
    return -1;
  }
  click() {}
  dismiss() {
    this.tooltip.close();
    this.surface.request();
  }
  leave() {
    this.pointer = null;
    this.tooltip.hide();
    this.surface.request();
  }
}
