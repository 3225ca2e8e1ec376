// SPDX-License-Identifier: Apache-2.0
// The segments of an allocator by address at one time, a row each, with the blocks within them.

import { mixed, toneOf } from "./block_picture.js";
import { restAt } from "./blocks.js";
import { AXIS, channels, drawTimeAxis, element, FONT, pageColours, Y_MARGIN } from "./canvas.js";
import { Range } from "./range.js";
import { countOf, fragmentationText, Segments } from "./segments.js";
import { axisTicks, BYTE_UNITS, bytesText, clamp, firstAbove, percentText, unitFor } from "./units.js";
import { View } from "./view.js";

const SEGMENTS_HEIGHT = 400; // of the rows; more rows are scrolled
const TALL_ROW = 18;
const LABELED_ROW = 13;
const ADDRESS_MARGIN = 112;
const SIZE_MARGIN = 202;
const SHARE_MARGIN = 58;
const WIDE = 760; // pictures narrower than this name neither addresses nor streams
const SMALL_ROW = 6;

class SegmentsView extends View {
  // `picture` is the view of the same blocks over time.
  constructor(root, rows, picture) {
    const segments = new Segments(rows.segments, picture.blocks);
    super(root, new Range(0, segments.largest, 512), `${rows.caption} Segments by address.`, null);
    Object.assign(this, { rows, segments, picture, offset: 0, hovered: null, filled: false, rowHeight: TALL_ROW });
    this.addControls();
    this.line = element("p", { className: "kymo-line" });
    this.line.setAttribute("role", "status");
    this.strips.append(this.line);
    this.show(picture.blocks.peak);
  }
  addControls() {
    const { times } = this.segments;
    this.slider = element("input", { type: "range", min: 0, max: times.length - 1 });
    this.slider.setAttribute("aria-label", "Time of the segments: allocations and frees");
    this.slider.addEventListener("input", () => this.choose(times[Number(this.slider.value)]));
    this.toolbar.add(element("label", { className: "kymo-slider" }, "Time ", this.slider));
    this.small = this.toolbar.addButton("Small rows", "Draw more segments at once, without texts", () => {
      this.setRowHeight(this.rowHeight > SMALL_ROW ? SMALL_ROW : TALL_ROW);
    });
    this.fill = this.toolbar.addButton("Same width", "Draw all segments with the same width", () => this.toggleWidth());
    this.fill.setAttribute("aria-pressed", "false");
  }
  toggleWidth() {
    this.filled = !this.filled;
    this.fill.setAttribute("aria-pressed", String(this.filled));
    if (this.filled) this.range.cover(0, 1, 1e-6);
    else this.range.cover(0, this.segments.largest, 512);
  }
  // Bytes per unit of the x axis.
  unitOf(row) {
    return this.filled ? row.bytes : 1;
  }

  // Shows a time until another one is chosen, and marks it in the curves.
  choose(time) {
    this.show(time);
    this.onchoose?.(time);
  }
  show(time) {
    this.chosen = time;
    this.slider.value = Math.max(0, firstAbove(this.segments.times, time) - 1);
    this.slider.setAttribute("aria-valuetext", this.picture.words.position(time));
    this.preview(time);
  }
  // Shows a time while the pointer is there; null: the chosen one.
  preview(time) {
    const shown = time ?? this.chosen;
    if (shown === this.time) return;
    this.time = shown;
    this.found = this.segments.at(shown);
    this.hovered = null;
    this.tooltip.close();
    const { given, restBytes } = this.picture.blocks;
    const rest = restBytes.length ? restAt({ restX: given.restX, restBytes }, shown) : 0;
    this.line.textContent = `${this.picture.words.position(shown)}: ${fragmentationText(this.found, rest)}`;
    this.scrollTo(this.offset);
  }

  get contentHeight() {
    return this.found.length * this.rowHeight;
  }
  scrolls() {
    return this.contentHeight > SEGMENTS_HEIGHT;
  }
  scrollBy(pixels) {
    this.scrollTo(this.offset + pixels);
  }
  scrollTo(pixels) {
    this.offset = clamp(pixels, 0, Math.max(0, this.contentHeight - SEGMENTS_HEIGHT));
    this.surface.request();
  }
  zoomValues(factor) {
    this.setRowHeight(clamp(this.rowHeight / factor, 3, 40));
  }
  setRowHeight(pixels) {
    const middle = (this.offset + SEGMENTS_HEIGHT / 2) / this.rowHeight;
    this.rowHeight = pixels;
    this.small.setAttribute("aria-pressed", String(pixels <= SMALL_ROW));
    this.scrollTo(middle * pixels - SEGMENTS_HEIGHT / 2);
  }
  reset() {
    this.setRowHeight(TALL_ROW);
    this.scrollTo(0);
    super.reset();
  }

  frame() {
    const began = performance.now();
    const height = clamp(this.contentHeight, TALL_ROW, SEGMENTS_HEIGHT);
    const context = this.surface.begin(height + 6 + AXIS);
    const ink = pageColours();
    this.isWide = this.surface.width >= WIDE;
    const left = this.isWide ? ADDRESS_MARGIN : Y_MARGIN;
    const right = this.isWide ? SIZE_MARGIN : SHARE_MARGIN;
    this.plot = { left, top: 6, width: this.surface.width - left - right, height };
    drawTimeAxis(context, this.range, this.plot, ink, (low, high, target) => this.ticks(low, high, target));
    const drawn = this.drawRows(context, ink);
    if (this.scrolls()) this.drawScrollbar(context, ink);
    return { ...drawn, milliseconds: performance.now() - began };
  }
  ticks(low, high, target) {
    if (this.filled) return { heading: "part of the segment (%)", ticks: axisTicks(low, high, target, 0.01) };
    const [factor, unit] = unitFor(BYTE_UNITS, high);
    return { heading: `offset in the segment (${unit})`, ticks: axisTicks(low, high, target, factor) };
  }
  drawRows(context, ink) {
    const { plot, rowHeight } = this;
    const paint = this.paint(ink);
    const first = Math.floor(this.offset / rowHeight);
    const last = Math.min(this.found.length, Math.ceil((this.offset + plot.height) / rowHeight));
    let blocks = 0;
    context.save();
    context.beginPath();
    context.rect(0, plot.top, this.surface.width, plot.height);
    context.clip();
    for (let k = first; k < last; ++k) {
      const top = plot.top + k * rowHeight - this.offset;
      blocks += this.drawRow(context, this.found[k], top, paint);
      if (rowHeight >= LABELED_ROW) this.drawTexts(context, this.found[k], top + rowHeight / 2, ink);
    }
    context.restore();
    return { rows: last - first, blocks };
  }
  // Colors of blocks, as over time.
  paint(ink) {
    const page = channels(this.picture.page(ink));
    const css = (rgb) => `rgb(${rgb.join()})`;
    const tones = this.picture.tones(page).map((rgb) => [css(rgb), css(mixed(rgb, page, 0.8))]);
    const { category } = this.picture.blocks.rows;
    const { matches } = this.picture;
    const { end } = this.picture.blocks.given;
    return {
      free: css(mixed(page, [128, 128, 128], 0.14)),
      edge: ink.muted,
      lit: ink.ink,
      page: css(page),
      of: (id) => tones[toneOf(category[id], id)][(matches && !matches[id]) || end[id] <= this.time ? 1 : 0],
    };
  }
  // Draws what is visible of a segment; blocks within the pixel of the block before are skipped. Returns their number.
  drawRow(context, row, top, paint) {
    const { plot, rowHeight } = this;
    const height = rowHeight > 5 ? rowHeight - 2 : rowHeight;
    const limit = plot.left + plot.width;
    const xOf = (address) => clamp(this.xAt((address - row.address) / this.unitOf(row)), plot.left, limit);
    const [start, stop] = [xOf(row.address), xOf(row.end)];
    context.fillStyle = paint.free;
    context.fillRect(start, top, Math.max(1, stop - start), height);
    let drawn = 0;
    let painted = plot.left - 1;
    const { address, bytes } = this.segments;
    for (const id of row.blocks) {
      const [from, to] = [xOf(address[id]), xOf(Math.min(row.end, address[id] + bytes[id]))];
      if (to <= from || to - painted < 0.5) continue;
      context.fillStyle = id === this.hovered ? paint.lit : paint.of(id);
      context.fillRect(from, top, Math.max(0.7, to - from - (to - from > 4 ? 0.7 : 0)), height);
      painted = to;
      ++drawn;
    }
    if (rowHeight > 5) {
      context.strokeStyle = paint.edge;
      context.lineWidth = 0.6;
      context.strokeRect(start, top, Math.max(1, stop - start), height);
    }
    return drawn;
  }
  drawTexts(context, row, y, ink) {
    const { plot } = this;
    context.font = FONT.replace("12px", "11px");
    context.fillStyle = ink.muted;
    context.textAlign = "right";
    context.fillText(this.isWide ? this.segments.addressText(row.address) : bytesText(row.bytes), plot.left - 6, y);
    if (this.isWide) {
      const right = plot.left + plot.width;
      context.fillText(bytesText(row.bytes), right + 76, y);
      context.fillText(`stream ${row.stream}`, right + 134, y);
    }
    context.fillStyle = ink.ink;
    context.fillText(percentText(row.allocated / row.bytes), this.surface.width - 10, y);
  }
  drawScrollbar(context, ink) {
    const { plot } = this;
    const part = plot.height / this.contentHeight;
    context.fillStyle = ink.rule;
    context.fillRect(this.surface.width - 4, plot.top, 4, plot.height);
    context.fillStyle = ink.muted;
    context.fillRect(this.surface.width - 4, plot.top + this.offset * part, 4, Math.max(8, plot.height * part));
  }

  // The row and the block at a position; undefined outside of the rows, the block is null in a gap.
  find(x, y) {
    const { plot } = this;
    if (y < plot.top || y >= plot.top + plot.height) return undefined;
    const row = this.found[Math.floor((y - plot.top + this.offset) / this.rowHeight)];
    if (!row) return undefined;
    const address = row.address + this.timeAt(x) * this.unitOf(row);
    const { segments } = this;
    const inside = x >= plot.left && x <= plot.left + plot.width;
    const hit = (id) => segments.address[id] <= address && address < segments.address[id] + segments.bytes[id];
    const gap = inside ? row.gaps.find(([at, size]) => at <= address && address < at + size) : undefined;
    return { row, block: inside ? (row.blocks.find(hit) ?? null) : null, gap };
  }
  facts({ row, block, gap }) {
    const { segments } = this;
    const part = (bytes) => `${bytesText(bytes)} (${percentText(bytes / row.bytes)})`;
    const segment = [
      ["", `segment ${segments.addressText(row.address)}`],
      ["reserved", `${bytesText(row.bytes)} for stream ${row.stream}`],
      ["allocated", `${part(row.allocated)} in ${countOf(row.blocks.length, "block")}`],
      ...(row.pending > 0 ? [["freed, in use by a stream", part(row.pending)]] : []),
      ["free", `${part(row.bytes - row.allocated - row.pending)} in ${countOf(row.gaps.length, "gap")}`],
      ["largest free block", bytesText(row.largestGap)],
    ];
    if (block !== null) {
      const place = [["address", segments.addressText(segments.address[block])]];
      return [...this.picture.facts(block), ...place, ...segment.slice(0, 3)];
    }
    if (gap) return [["", `free ${bytesText(gap[1])} at ${segments.addressText(gap[0])}`], ...segment];
    return segment;
  }
  hover(x, y) {
    this.pointer = { x, y };
    if (!this.tooltip.pinned) this.point(x, y);
  }
  point(x, y) {
    const hit = this.find(x, y);
    if (hit) this.tooltip.show(this.facts(hit), x, y);
    else this.tooltip.hide();
    const block = hit?.block ?? null;
    if (block !== this.hovered) this.surface.request();
    this.hovered = block;
    return hit;
  }
  click(x, y) {
    this.tooltip.pin(false);
    this.tooltip.pin(Boolean(this.point(x, y)));
  }
  dismiss() {
    this.hovered = null;
    super.dismiss();
  }
  leave() {
    if (!this.tooltip.pinned) this.hovered = null;
    super.leave();
  }
}

// The segments of a memory chart, which follow the pointer in its curves, the time chosen there and the jump to the
// peak; or the reason why there are none.
export function segmentsBelow(root, rows, curves, picture) {
  if (!rows.segments) {
    if (rows.withoutSegments) root.append(element("p", { className: "kymo-line", textContent: rows.withoutSegments }));
    return null;
  }
  const box = element("div", { className: "kymo-below" });
  root.append(box);
  const view = new SegmentsView(box, rows, picture);
  curves.onhover = (time) => view.preview(time);
  picture.onmoment = (time) => view.choose(time);
  picture.onsearch = () => view.surface.request();
  view.onchoose = (time) => curves.markTime(time);
  return view;
}
