// SPDX-License-Identifier: Apache-2.0
// Memory blocks, each drawn as a band that moves down when older blocks below it are freed. Drawn one pixel column at a
// time, so that the cost depends on the size of the picture and the number of blocks alive at once, not on the total
// number of blocks.

const BLOCKS_HEIGHT = 400;
const EMPTY = -1;
const SMALLER = -2;

class Blocks {
  constructor(rows, last) {
    const count = rows.start.length;
    this.rows = rows;
    this.count = count;
    this.start = summed(rows.start);
    this.bytes = Float64Array.from(rows.bytes);
    this.first = count ? this.start[0] : 0;
    this.last = last;
    for (let i = 0; i < count; ++i) this.last = Math.max(this.last, this.start[i] + Math.max(0, rows.length[i]));
    this.end = Float64Array.from(this.start, (start, i) => (rows.length[i] < 0 ? Infinity : start + rows.length[i]));
    this.deaths = Float64Array.from(this.end).sort();
    this.restX = Float64Array.from(rows.restX);
    this.restBytes = Float64Array.from(rows.restBytes);
    this.addTotals();
  }
  // Total size of all blocks after each change, and the times of the changes.
  addTotals() {
    const births = Array.from({ length: this.count }, (_, i) => [this.start[i], this.bytes[i]]);
    const deaths = births.map((_, i) => [this.end[i], -this.bytes[i]]).filter(([time]) => time < Infinity);
    const rest = Array.from(this.restX, (x, i) => [x, this.restBytes[i] - (i ? this.restBytes[i - 1] : 0)]);
    const changes = births.concat(deaths, rest).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    this.times = Float64Array.from(changes, (change) => change[0]);
    this.totals = summed(changes.map((change) => change[1]));
    this.highest = this.totals.reduce((best, each) => Math.max(best, each), 0) || 1;
  }
  restAt(time) {
    const i = firstAbove(this.restX, time) - 1;
    return i < 0 ? 0 : this.restBytes[i];
  }
  // For each pixel column, the time with the largest total.
  moments(low, span, count) {
    const moments = new Float64Array(count);
    let next = firstAbove(this.times, low);
    for (let column = 0; column < count; ++column) {
      const begin = low + (span * column) / count;
      const end = low + (span * (column + 1)) / count;
      let most = next > 0 ? this.totals[next - 1] : 0;
      moments[column] = begin;
      for (; next < this.times.length && this.times[next] < end; ++next) {
        // Intermediate totals between changes at the same time never existed.
        if (this.times[next + 1] === this.times[next] || this.totals[next] <= most) continue;
        most = this.totals[next];
        moments[column] = this.times[next];
      }
    }
    return moments;
  }
}

// The block shown by each pixel of a picture.
class BlockPicture {
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.ids = new Int32Array(width * height);
  }
  // Stacks the live blocks at each time, oldest first; blocks smaller than `smallest` bytes are merged at the top. The
  // picture starts at `lowest` bytes.
  fill(blocks, moments, smallest, lowest, bytesPerPixel) {
    Object.assign(this, { smallest, lowest, pixelsPerByte: 1 / bytesPerPixel });
    this.alive = new Int32Array(blocks.count);
    this.living = 0;
    this.shown = new Uint8Array(blocks.count);
    this.most = 0;
    let born = 0;
    let died = 0;
    moments.forEach((time, column) => {
      const bornBefore = born;
      const diedBefore = died;
      died = firstAbove(blocks.deaths, time, died);
      if (died > diedBefore) this.bury(blocks.end, time);
      for (; born < blocks.count && blocks.start[born] <= time; ++born)
        if (blocks.end[born] > time) this.alive[this.living++] = born;
      if (column > 0 && born === bornBefore && died === diedBefore && blocks.restX.length === 0) this.repeat(column);
      else this.stack(blocks.bytes, column, blocks.restAt(time));
      this.most = Math.max(this.most, this.living);
    });
  }
  bury(end, time) {
    let kept = 0;
    for (let k = 0; k < this.living; ++k) if (end[this.alive[k]] > time) this.alive[kept++] = this.alive[k];
    this.living = kept;
  }
  stack(bytes, column, rest) {
    const { alive, living, ids, width, height, smallest, lowest, pixelsPerByte } = this;
    let offset = 0;
    let smaller = rest;
    let y = 0;
    for (let k = 0; k < living; ++k) {
      const size = bytes[alive[k]];
      if (size < smallest) {
        smaller += size;
        continue;
      }
      offset += size;
      const top = Math.min(height, Math.floor((offset - lowest) * pixelsPerByte + 0.5));
      if (top > y) this.shown[alive[k]] = 1;
      for (; y < top; ++y) ids[y * width + column] = alive[k];
    }
    const top = Math.min(height, Math.floor((offset + smaller - lowest) * pixelsPerByte + 0.5));
    for (; y < top; ++y) ids[y * width + column] = SMALLER;
    for (; y < height; ++y) ids[y * width + column] = EMPTY;
  }
  repeat(column) {
    for (let at = column; at < this.ids.length; at += this.width) this.ids[at] = this.ids[at - 1];
  }
  // `colourOf(id)` returns packed pixels; a dark line separates bands that are thick enough. Row 0 of the ids is at the
  // bottom.
  paint(pixels, colourOf, dark) {
    const { width, height, ids } = this;
    for (let y = 0; y < height; ++y) {
      const from = y * width;
      const to = (height - 1 - y) * width;
      for (let x = 0; x < width; ++x) {
        const id = ids[from + x];
        const edge =
          id !== EMPTY && y > 0 && y + 3 < height && ids[from + x - width] !== id && ids[from + x + 3 * width] === id;
        pixels[to + x] = edge ? dark : colourOf(id);
      }
    }
  }
}

// Byte order of ImageData on little-endian machines.
const packed = (red, green, blue) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
const mixed = (from, to, part) => from.map((each, i) => Math.round(each + (to[i] - each) * part));

class BlocksView extends View {
  constructor(root, rows, range, blocks) {
    super(root, range, `${rows.caption} Block by block.`, "Search blocks");
    Object.assign(this, {
      rows,
      blocks,
      smallest: 0,
      matches: null,
      order: [],
      match: -1,
      hovered: EMPTY,
      words: new AreaWords(rows),
      lowest: 0,
      stretch: 1,
    });
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
  }

  // Logarithmic scale from all blocks to only the largest.
  addSlider() {
    const sizes = this.blocks.bytes.filter((each) => each > 0).sort();
    const low = sizes.length ? sizes[0] : 1;
    const high = sizes.length ? sizes[sizes.length - 1] : 1;
    this.slider = element("input", { type: "range", min: 0, max: 100, value: 0 });
    this.sliderText = element("output", { textContent: "all" });
    this.slider.addEventListener("input", () => {
      const point = Number(this.slider.value);
      this.setSmallest(point === 0 ? 0 : low * (high / low) ** (point / 100));
    });
    this.toolbar.bar.insertBefore(
      element("label", { className: "kymo-slider" }, "Smallest block shown ", this.slider, this.sliderText),
      this.toolbar.bar.querySelector(".kymo-gap"),
    );
  }

  // Merges blocks smaller than this many bytes into one band. Returns the number of merged blocks.
  setSmallest(bytes) {
    this.smallest = bytes;
    let smaller = 0;
    for (const each of this.blocks.bytes) if (each < bytes) ++smaller;
    this.sliderText.textContent = bytes > 0 ? `${bytesText(Math.round(bytes))} (${countText(smaller)} smaller)` : "all";
    this.surface.request();
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
    const top = 6 + (this.rows.bands.length ? BAND_STRIP : 0);
    this.plot = { left: Y_MARGIN, top, width: this.surface.width - Y_MARGIN - 10, height: BLOCKS_HEIGHT - top - AXIS };
    const highest = this.lowest + this.shownBytes();
    drawBands(context, this.surface, this, this.rows.bands, ink);
    drawValueAxis(context, this.plot, this.lowest, highest, ink, { ...this.rows, bytes: true, yTitle: "blocks" });
    drawTimeAxis(context, this.range, this.plot, ink, (low, high, target) => this.words.ticks(low, high, target));
    const picture = this.fillPicture();
    this.paintPicture(context, picture, ink);
    return {
      blocks: picture.shown.reduce((sum, each) => sum + each, 0),
      alive: picture.most,
      milliseconds: performance.now() - began,
    };
  }

  // The pixels depend on the range, the size and the slider; hovering and searching only change the colors.
  fillPicture() {
    const scale = Math.min(2, this.surface.scale);
    const width = Math.max(1, Math.floor(this.plot.width * scale));
    const height = Math.max(1, Math.floor(this.plot.height * scale));
    const key = [width, height, this.range.low, this.range.high, this.smallest, this.lowest, this.stretch].join();
    if (this.picture && this.pictureKey === key) return this.picture;
    this.pictureKey = key;
    this.picture = new BlockPicture(width, height);
    const moments = this.blocks.moments(this.range.low, this.range.span, width);
    const until = Math.ceil(clamp(((this.blocks.last - this.range.low) / this.range.span) * width, 0, width));
    this.picture.ids.fill(EMPTY);
    this.picture.fill(this.blocks, moments.subarray(0, until), this.smallest, this.lowest, this.shownBytes() / height);
    return this.picture;
  }

  paintPicture(context, picture, ink) {
    if (!this.sheet || this.sheet.width !== picture.width || this.sheet.height !== picture.height) {
      this.sheet = element("canvas", { width: picture.width, height: picture.height });
    }
    const sheet = this.sheet.getContext("2d");
    const image = sheet.createImageData(picture.width, picture.height);
    picture.paint(new Uint32Array(image.data.buffer), this.colouring(ink), packed(...channels(this.page(ink))));
    sheet.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.sheet, this.plot.left, this.plot.top, this.plot.width, this.plot.height);
  }

  page(ink) {
    return /^#[0-9a-f]{6}$/i.test(ink.page) ? ink.page : "#ffffff";
  }

  // Colors by category in four shades, so that neighbors differ; blocks that do not match a search are faded.
  colouring(ink) {
    const { categories, colours, category } = this.blocks.rows;
    const palette = paletteOf(this.rows.palette);
    const page = channels(this.page(ink));
    const strong = [];
    const faded = [];
    categories.forEach((_, kind) => {
      const colour = palette[colours[kind] % palette.length];
      this.swatches[kind].swatch.style.background = colour;
      for (let tone = 0; tone < 4; ++tone) {
        const rgb = mixed(channels(colour), page, tone * 0.09);
        strong.push(packed(...rgb));
        faded.push(packed(...mixed(rgb, page, 0.8)));
      }
    });
    const grey = packed(...mixed(page, [128, 128, 128], 0.45));
    const lit = packed(...channels(textOn(this.page(ink))));
    const { matches, hovered } = this;
    return (id) => {
      if (id === EMPTY) return 0;
      if (id === SMALLER) return grey;
      if (id === hovered) return lit;
      return (matches && !matches[id] ? faded : strong)[category[id] * 4 + (Math.imul(id, 0x9e3779b1) >>> 30)];
    };
  }

  // The block at a position; EMPTY, or SMALLER for merged blocks.
  blockAt(x, y) {
    const { plot, picture } = this;
    if (!picture) return EMPTY;
    const column = Math.floor(((x - plot.left) / plot.width) * picture.width);
    const row = picture.height - 1 - Math.floor(((y - plot.top) / plot.height) * picture.height);
    const inside = column >= 0 && column < picture.width && row >= 0 && row < picture.height;
    return inside ? picture.ids[row * picture.width + column] : EMPTY;
  }

  facts(id) {
    if (id === SMALLER)
      return [
        ["", "smaller blocks"],
        ["", "merged; move the slider to the left to show them individually"],
      ];
    const { rows, start, end, bytes } = this.blocks;
    const lines = [
      ["", rows.texts[rows.label[id]] || "block"],
      ["size", bytesText(bytes[id])],
      ["category", rows.categories[rows.category[id]]],
      ["from", this.words.position(start[id])],
      ["alive for", end[id] === Infinity ? "the rest of the trace" : durationText(end[id] - start[id])],
    ];
    const band = this.words.bandAt(start[id]);
    if (band) lines.push(["allocated in", band]);
    if (rows.detail[id] >= 0) lines.push(["detail", rows.texts[rows.detail[id]]]);
    return lines;
  }

  hover(x, y) {
    this.pointer = { x, y };
    if (this.tooltip.pinned) return;
    this.point(this.blockAt(x, y), x, y);
  }

  point(id, x, y) {
    if (id === EMPTY) this.tooltip.hide();
    else this.tooltip.show(this.facts(id), x, y);
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
    this.swatches.forEach(({ button }, i) => button.setAttribute("aria-pressed", String(i === kind)));
    this.matches = found ? Uint8Array.from({ length: this.blocks.count }, (_, i) => (found(i) ? 1 : 0)) : null;
    this.order = [];
    if (found) this.matches.forEach((hit, i) => hit && this.order.push(i));
    this.match = -1;
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
    const at = this.picture.ids.indexOf(id);
    const point =
      at < 0
        ? [0.5, 0.5]
        : [(at % this.picture.width) / this.picture.width, Math.floor(at / this.picture.width) / this.picture.height];
    this.tooltip.show(
      this.facts(id),
      this.plot.left + point[0] * this.plot.width,
      this.plot.top + (1 - point[1]) * this.plot.height,
    );
    this.tooltip.pin(true);
  }
}
