// SPDX-License-Identifier: Apache-2.0
// Memory blocks, each drawn as a band that moves down when older blocks below it are freed. Drawn one pixel column at a
// time, so that the cost depends on the size of the picture and the number of blocks alive at once, not on the total
// number of blocks.

import { restAt } from "./blocks.js";
import { firstAbove } from "./units.js";

export const EMPTY = -1;
export const SMALLER = -2;

// The block shown by each pixel of a picture, column by column, each from the bottom to the top.
export class BlockPicture {
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.ids = new Int32Array(width * height);
  }
  at(column, y) {
    return this.ids[column * this.height + y];
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
      for (; born < blocks.count && blocks.start[born] <= time; ++born)
        if (blocks.end[born] > time) this.alive[this.living++] = born;
      if (column > 0 && born === bornBefore && died === diedBefore && blocks.restX.length === 0) this.repeat(column);
      else this.stack(blocks, time, column);
      this.most = Math.max(this.most, this.living);
    });
  }
  // Also forgets the blocks that have died.
  stack(blocks, time, column) {
    const { bytes, end } = blocks;
    const { alive, living, ids, height, smallest, lowest, pixelsPerByte, shown } = this;
    const bottom = column * height;
    let offset = 0;
    let smaller = blocks.restBytes.length ? restAt(blocks, time) : 0;
    let y = 0;
    let kept = 0;
    let next = lowest + 0.5 / pixelsPerByte; // where the band of pixel y begins
    for (let k = 0; k < living; ++k) {
      const id = alive[k];
      if (end[id] <= time) continue;
      alive[kept++] = id;
      const size = bytes[id];
      if (size < smallest) {
        smaller += size;
        continue;
      }
      offset += size;
      if (offset < next || y === height) continue;
      shown[id] = 1;
      const top = Math.min(height, Math.floor((offset - lowest) * pixelsPerByte + 0.5));
      for (; y < top; ++y) ids[bottom + y] = id;
      next = lowest + (y + 0.5) / pixelsPerByte;
    }
    this.living = kept;
    const top = Math.min(height, Math.floor((offset + smaller - lowest) * pixelsPerByte + 0.5));
    for (; y < top; ++y) ids[bottom + y] = SMALLER;
    for (; y < height; ++y) ids[bottom + y] = EMPTY;
  }
  repeat(column) {
    const { height } = this;
    this.ids.copyWithin(column * height, (column - 1) * height, column * height);
  }
  // Writes pixels in the order of the ids. `colourOf(id)` returns packed pixels; a line of the color `dark` separates
  // bands that are thick enough.
  paint(pixels, colourOf, dark) {
    const { height, ids } = this;
    for (let bottom = 0; bottom < ids.length; bottom += height) {
      for (let y = 0; y < height; ) {
        const id = ids[bottom + y];
        let top = y + 1;
        while (top < height && ids[bottom + top] === id) ++top;
        const colour = colourOf(id);
        for (let at = bottom + y; at < bottom + top; ++at) pixels[at] = colour;
        if (id !== EMPTY && y > 0 && top - y > 3) pixels[bottom + y] = dark;
        y = top;
      }
    }
  }
}

// Byte order of ImageData on little-endian machines.
export const packed = (red, green, blue) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
// The shade of a block among four for each category.
export const toneOf = (category, id) => category * 4 + (Math.imul(id, 0x9e3779b1) >>> 30);
export const mixed = (from, to, part) => from.map((each, i) => Math.round(each + (to[i] - each) * part));
