// SPDX-License-Identifier: Apache-2.0

import { clamp } from "./units.js";

// The visible range of the x axis. Charts that share a range move together.
export class Range {
  constructor(first, last, smallest) {
    this.listeners = [];
    this.cover(first, last, smallest);
  }
  // Replaces the whole range, and shows all of it.
  cover(first, last, smallest) {
    this.first = first;
    this.last = last > first ? last : first + 1;
    this.smallest = Math.min(smallest, this.last - this.first);
    this.reset();
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
