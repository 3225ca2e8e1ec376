// SPDX-License-Identifier: Apache-2.0
// An x axis on which every allocation and free takes the same room, instead of its time.

import { clamp, firstAbove } from "./units.js";

export class EventAxis {
  // Times of events, in any order.
  constructor(times) {
    this.times = Float64Array.from(new Set(times)).sort();
  }
  get count() {
    return this.times.length;
  }
  // The number of the event at a time, with a fraction between two events.
  indexOf(time) {
    if (time === Infinity || this.count === 0) return time;
    const next = firstAbove(this.times, time);
    if (next === 0) return 0;
    const before = this.times[next - 1];
    return next === this.count ? this.count - 1 : next - 1 + (time - before) / (this.times[next] - before);
  }
  timeOf(index) {
    const at = clamp(index, 0, this.count - 1);
    const before = Math.floor(at);
    if (before + 1 >= this.count) return this.times[this.count - 1];
    return this.times[before] + (at - before) * (this.times[before + 1] - this.times[before]);
  }
}

// A button that switches the views of a memory chart between the two axes. Views implement useAxis(axis or null).
export class AxisSwitch {
  constructor(toolbar, range, axis, views, onchange) {
    Object.assign(this, { range, axis, views, onchange, byEvent: false });
    this.extent = [range.first, range.last, range.smallest];
    this.button = toolbar.addButton("By event", "Show allocation events at equal distances instead of time", () =>
      this.use(!this.byEvent),
    );
    this.button.setAttribute("aria-pressed", "false");
  }
  use(byEvent) {
    if (byEvent === this.byEvent) return;
    const { axis, range } = this;
    const convert = (x) => (byEvent ? axis.indexOf(x) : axis.timeOf(x));
    const whole = range.low === range.first && range.high === range.last;
    const visible = [convert(range.low), convert(range.high)];
    this.byEvent = byEvent;
    for (const view of this.views) view.useAxis(byEvent ? axis : null);
    if (byEvent) range.cover(0, axis.count - 1, 4);
    else range.cover(...this.extent);
    if (!whole) range.set(...visible);
    this.button.setAttribute("aria-pressed", String(byEvent));
    this.onchange(byEvent);
  }
}
