// SPDX-License-Identifier: Apache-2.0
// Memory blocks over time, and which of them are live at a moment.

import { AreaWords, drawBands, drawValueAxis, plotIn } from "./area_axes.js";
import { BlockPicture, EMPTY, mixed, packed, SMALLER, toneOf } from "./block_picture.js";
import { restAt } from "./blocks.js";
import { channels, drawTimeAxis, element, pageColours, paletteOf, textOn } from "./canvas.js";
import { linkButton, Panel, smallTable } from "./panel.js";
import { bytesText, clamp, countText, durationText, matchingTexts, percentText } from "./units.js";
import { View } from "./view.js";

const BLOCKS_HEIGHT = 400;
const MOST_STEPS = 1.2e6; // live blocks times columns that are drawn in a frame
const MOST_BLOCKS_LISTED = 50;
const FRAME = " ← "; // between a block and the frames of its stack, innermost first

export class BlocksView extends View {
  constructor(root, rows, range, blocks) {
    super(root, range, `${rows.caption} Block by block.`, "Search blocks");
    Object.assign(this, { rows, blocks, smallest: 0, matches: null, order: [], match: -1, hovered: EMPTY });
    Object.assign(this, { moment: null, words: new AreaWords(rows), lowest: 0, stretch: 1 });
    this.addSlider();
    const legend = element("div", { className: "kymo-legend" });
    this.swatches = blocks.rows.categories.map((name, i) => {
      const swatch = element("i");
      const button = element("button", { type: "button", onclick: () => this.searchCategory(i) }, swatch, name);
      button.setAttribute("aria-pressed", "false");
      legend.append(button);
      return { swatch, button };
    });
    root.append(legend);
    this.panel = new Panel(root, "Live blocks", (hadFocus) => {
      if (hadFocus) this.surface.canvas.focus({ preventScroll: true });
      this.surface.request();
    });
  }
  useAxis(axis) {
    this.words.axis = axis;
    this.blocks.useAxis(axis);
    this.pictureKey = "";
    this.tooltip.close();
    this.surface.request();
  }

  // The number of blocks drawn individually, the largest first: a logarithmic scale from a few to all.
  addSlider() {
    this.sizes = Float64Array.from(this.blocks.bytes).sort().reverse();
    this.slider = element("input", { type: "range", min: 0, max: 100, value: 100 });
    this.slider.setAttribute("aria-label", "Detail: number of blocks drawn");
    this.sliderText = element("output");
    this.slider.addEventListener("input", () => this.setDetail(Number(this.slider.value) / 100));
    this.toolbar.add(element("label", { className: "kymo-slider" }, "Detail ", this.slider, this.sliderText));
    this.setDetail(1);
  }
  setDetail(part) {
    const fewest = Math.min(15, this.sizes.length);
    const count = Math.round(fewest * (this.sizes.length / Math.max(1, fewest)) ** part);
    this.setSmallest(part >= 1 || count >= this.sizes.length ? 0 : this.sizes[Math.max(0, count - 1)]);
  }

  // Merges blocks smaller than this many bytes into one band. Returns the number of merged blocks.
  setSmallest(bytes) {
    this.smallest = bytes;
    let smaller = 0;
    for (const each of this.blocks.bytes) if (each < bytes) ++smaller;
    const drawn = countText(this.blocks.count - smaller);
    const least = bytes > 0 ? `, from ${bytesText(Math.round(bytes))}` : "";
    this.sliderText.textContent = `${smaller > 0 ? `${drawn} of ` : ""}${countText(this.blocks.count)} blocks${least}`;
    this.surface?.request();
    return smaller;
  }

  // Number of bytes that the height of the plot represents.
  shownBytes() {
    return (this.blocks.highest * 1.03) / this.stretch;
  }
  zoomValues(factor) {
    const middle = this.lowest + this.shownBytes() / 2;
    this.stretch = clamp(this.stretch / factor, 1, 1e4);
    this.moveTo(middle - this.shownBytes() / 2);
  }
  moveTo(bytes) {
    this.lowest = clamp(bytes, 0, this.blocks.highest * 1.03 - this.shownBytes());
    this.surface.request();
  }
  scrolls() {
    return this.stretch > 1;
  }
  scrollBy(pixels) {
    this.moveTo(this.lowest - (pixels / this.plot.height) * this.shownBytes());
  }
  reset() {
    this.stretch = 1;
    this.lowest = 0;
    this.range.reset();
  }

  frame() {
    const began = performance.now();
    const context = this.surface.begin(BLOCKS_HEIGHT);
    const ink = pageColours();
    this.plot = plotIn(this.surface, BLOCKS_HEIGHT, this.rows.bands);
    const highest = this.lowest + this.shownBytes();
    drawBands(context, this.surface, this, this.words.bands(), ink);
    drawValueAxis(context, this.plot, this.lowest, highest, ink, { ...this.rows, bytes: true, yTitle: "blocks" });
    drawTimeAxis(context, this.range, this.plot, ink, (low, high, target) => this.words.ticks(low, high, target));
    const picture = this.fillPicture();
    this.paintPicture(context, picture, ink);
    this.drawMoment(context, ink);
    return {
      blocks: picture.shown.reduce((sum, each) => sum + each, 0),
      alive: picture.most,
      milliseconds: performance.now() - began,
    };
  }

  // The pixels depend on the range, the size and the slider; hovering and searching only change the colors. While many
  // blocks move, columns are wider than a pixel; `settle` makes them fine again.
  fillPicture() {
    const scale = Math.min(2, this.surface.scale);
    const width = Math.max(1, Math.floor(this.plot.width * scale));
    const height = Math.max(1, Math.floor(this.plot.height * scale));
    const key = [width, height, this.range.low, this.range.high, this.smallest, this.lowest, this.stretch].join();
    if (this.picture && this.pictureKey === key) return this.picture;
    this.pictureKey = key;
    const steps = this.picture && !this.settling ? this.picture.most * width : 0;
    const columns = Math.ceil(width * clamp(MOST_STEPS / Math.max(1, steps), 0.25, 1));
    if (columns < width) this.settleSoon();
    this.picture = new BlockPicture(columns, height);
    const moments = this.blocks.moments(this.range.low, this.range.span, columns);
    const part = clamp((this.blocks.last - this.range.low) / this.range.span, 0, 1);
    this.picture.ids.fill(EMPTY);
    const drawn = moments.subarray(0, Math.ceil(part * columns));
    this.picture.fill(this.blocks, drawn, this.smallest, this.lowest, this.shownBytes() / height);
    return this.picture;
  }
  settleSoon() {
    clearTimeout(this.settleTimer);
    this.settleTimer = setTimeout(() => this.settle(), 150);
  }
  settle() {
    clearTimeout(this.settleTimer);
    this.settling = true;
    this.pictureKey = "";
    this.frame();
    this.settling = false;
  }

  // The image has a row per column of the picture, which is turned when it is drawn: both are written in the order of
  // memory.
  paintPicture(context, picture, ink) {
    const { width, height } = picture;
    if (!this.sheet || this.sheet.width !== height || this.sheet.height !== width) {
      this.sheet = element("canvas", { width: height, height: width });
      this.image = this.sheet.getContext("2d").createImageData(height, width);
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    picture.paint(pixels, this.colouring(ink), packed(...channels(this.page(ink))));
    this.sheet.getContext("2d").putImageData(this.image, 0, 0);
    const { plot } = this;
    context.save();
    context.imageSmoothingEnabled = false;
    context.transform(0, -plot.height / height, plot.width / width, 0, plot.left, plot.top + plot.height);
    context.drawImage(this.sheet, 0, 0);
    context.restore();
  }

  page(ink) {
    return /^#[0-9a-f]{6}$/i.test(ink.page) ? ink.page : "#ffffff";
  }

  // Colors by category in four shades, so that neighbors differ; blocks that do not match a search are faded.
  colouring(ink) {
    const { category } = this.blocks.rows;
    const palette = paletteOf(this.rows.palette);
    for (const [kind, { swatch }] of this.swatches.entries()) swatch.style.background = this.colourOf(kind, palette);
    const page = channels(this.page(ink));
    const tones = this.tones(page);
    const strong = tones.map((rgb) => packed(...rgb));
    const faded = tones.map((rgb) => packed(...mixed(rgb, page, 0.8)));
    const grey = packed(...mixed(page, [128, 128, 128], 0.45));
    const lit = packed(...channels(textOn(this.page(ink))));
    const { matches, hovered } = this;
    return (id) => {
      if (id === EMPTY) return 0;
      if (id === SMALLER) return grey;
      if (id === hovered) return lit;
      return (matches && !matches[id] ? faded : strong)[toneOf(category[id], id)];
    };
  }
  colourOf(kind, palette) {
    return palette[this.blocks.rows.colours[kind] % palette.length];
  }
  // The shades of each category, see toneOf.
  tones(page) {
    const palette = paletteOf(this.rows.palette);
    return this.blocks.rows.categories.flatMap((_, kind) => {
      const rgb = channels(this.colourOf(kind, palette));
      return [0, 1, 2, 3].map((tone) => mixed(rgb, page, tone * 0.09));
    });
  }

  // The block at a position; EMPTY, or SMALLER for merged blocks.
  blockAt(x, y) {
    const { plot, picture } = this;
    if (!picture) return EMPTY;
    const column = Math.floor(((x - plot.left) / plot.width) * picture.width);
    const row = picture.height - 1 - Math.floor(((y - plot.top) / plot.height) * picture.height);
    const inside = column >= 0 && column < picture.width && row >= 0 && row < picture.height;
    return inside ? picture.at(column, row) : EMPTY;
  }

  facts(id) {
    if (id === SMALLER)
      return [
        ["", "smaller blocks"],
        ["", "merged; move the slider to the left to show them individually"],
      ];
    const { rows, bytes } = this.blocks;
    const { start, end } = this.blocks.given;
    const lines = [
      ["", rows.texts[rows.label[id]] || "block"],
      ["size", bytesText(bytes[id])],
      ["category", rows.categories[rows.category[id]]],
      ["from", this.words.position(start[id])],
      ["alive for", end[id] === Infinity ? "the rest of the trace" : durationText(end[id] - start[id])],
    ];
    const band = this.words.bandAt(this.blocks.start[id]);
    if (band) lines.push(["allocated in", band]);
    if (rows.detail[id] >= 0) {
      const [detail, ...frames] = rows.texts[rows.detail[id]].split(FRAME);
      lines.push(["detail", detail], ...frames.map((frame, i) => [i === 0 ? "stack" : "↑", frame]));
    }
    return lines;
  }

  // Marks the position whose live blocks are listed.
  drawMoment(context, ink) {
    if (this.moment === null || !this.panel.isOpen) return;
    const x = this.xAt(this.moment);
    if (x < this.plot.left || x > this.plot.left + this.plot.width) return;
    context.fillStyle = ink.ink;
    context.fillRect(x - 0.5, this.plot.top, 1.5, this.plot.height);
  }
  // Jumps to the highest total and lists its blocks.
  showPeak() {
    const { peak } = this.blocks;
    const { range } = this;
    if (peak < range.low || peak > range.high) range.set(peak - range.span / 2, peak + range.span / 2);
    this.showLive(peak, "Peak");
  }
  // Lists the blocks that are alive at a position; null closes the list.
  showLive(x, title) {
    this.moment = x;
    if (x === null) return this.panel.close();
    const { blocks } = this;
    const { rows } = blocks;
    const alive = blocks.aliveAt(x);
    const total = alive.reduce((sum, i) => sum + blocks.bytes[i], 0) + restAt(blocks, x);
    const categories = rows.categories
      .map((name, kind) => {
        const own = alive.filter((i) => rows.category[i] === kind);
        return [name, own.length, own.reduce((sum, i) => sum + blocks.bytes[i], 0)];
      })
      .filter(([, count]) => count > 0)
      .sort((a, b) => b[2] - a[2])
      .map(([name, count, bytes]) => [name, countText(count), bytesText(bytes), percentText(bytes / total)]);
    const listed = alive
      .slice(0, MOST_BLOCKS_LISTED)
      .map((i) => [
        linkButton(rows.texts[rows.label[i]] || "block", () => this.reveal(i)),
        rows.categories[rows.category[i]],
        bytesText(blocks.bytes[i]),
        this.words.position(blocks.given.start[i]),
      ]);
    const more = alive.length > MOST_BLOCKS_LISTED ? `; the ${MOST_BLOCKS_LISTED} largest` : "";
    const time = this.words.axis ? this.words.axis.timeOf(x) : x;
    this.onmoment?.(time);
    this.panel.show(
      `${title}: ${bytesText(Math.round(total))} in ${countText(alive.length)} blocks at ${this.words.position(time)}`,
      smallTable("By category", [["category"], ["blocks", true], ["size", true], ["share", true]], categories),
      smallTable(`Live blocks${more}`, [["block"], ["category"], ["size", true], ["allocated at", true]], listed),
    );
    this.surface.request();
  }

  hover(x, y) {
    this.pointer = { x, y };
    if (this.tooltip.pinned) return;
    this.point(this.blockAt(x, y), x, y);
  }

  point(id, x, y) {
    if (id === EMPTY) this.tooltip.hide();
    else this.tooltip.show(this.facts(id), x, y, this.plot.top + this.plot.height);
    if (id !== this.hovered) this.surface.request();
    this.hovered = id;
  }

  click(x, y) {
    this.tooltip.pin(false);
    const id = this.blockAt(x, y);
    this.point(id, x, y);
    this.tooltip.pin(id !== EMPTY);
  }

  dismiss() {
    this.hovered = EMPTY;
    this.panel.close();
    super.dismiss();
  }
  leave() {
    if (!this.tooltip.pinned) this.hovered = EMPTY;
    super.leave();
  }

  // Fades all blocks except those whose label, detail or category contains the text; returns the number of matches.
  search(text) {
    const { rows } = this.blocks;
    const texts = text ? matchingTexts(rows.texts, text) : null;
    const categories = text ? matchingTexts(rows.categories, text) : null;
    return this.markWhere(
      text
        ? (i) => texts[rows.label[i]] || categories[rows.category[i]] || (rows.detail[i] >= 0 && texts[rows.detail[i]])
        : null,
      -1,
    );
  }

  searchCategory(kind) {
    const again = this.markedCategory === kind;
    this.toolbar.input.value = "";
    return this.markWhere(again ? null : (i) => this.blocks.rows.category[i] === kind, again ? -1 : kind);
  }

  markWhere(found, kind) {
    this.markedCategory = kind;
    for (const [i, { button }] of this.swatches.entries()) button.setAttribute("aria-pressed", String(i === kind));
    this.matches = found ? Uint8Array.from({ length: this.blocks.count }, (_, i) => (found(i) ? 1 : 0)) : null;
    this.order = [];
    if (found) for (const [i, hit] of this.matches.entries()) if (hit) this.order.push(i);
    this.match = -1;
    this.onsearch?.();
    this.toolbar.showMatches(-1, this.order.length, Boolean(found));
    this.surface.request();
    return this.order.length;
  }

  next(direction = 1) {
    const count = this.order.length;
    if (count === 0) return -1;
    this.match = this.match < 0 ? (direction > 0 ? 0 : count - 1) : (this.match + direction + count) % count;
    this.toolbar.showMatches(this.match, count, true);
    this.reveal(this.order[this.match]);
    return this.match;
  }

  reveal(id) {
    const { start, end, last } = this.blocks;
    const until = Math.min(end[id], last);
    const life = until - start[id];
    if (start[id] < this.range.low || until > this.range.high || life < this.range.span / 50)
      this.range.set(start[id] - life, until + life);
    this.hovered = id;
    this.frame();
    const { ids, width, height } = this.picture;
    const at = ids.indexOf(id);
    const point = at < 0 ? [0.5, 0.5] : [Math.floor(at / height) / width, (at % height) / height];
    this.tooltip.show(
      this.facts(id),
      this.plot.left + point[0] * this.plot.width,
      this.plot.top + (1 - point[1]) * this.plot.height,
    );
    this.tooltip.pin(true);
  }
}
