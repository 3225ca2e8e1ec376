// SPDX-License-Identifier: Apache-2.0
// Range, tooltip and toolbar of one chart; subclasses implement the chart kinds.

import { element, Surface } from "./canvas.js";
import { PointerControl } from "./input.js";
import { Panel } from "./panel.js";
import { Toolbar } from "./toolbar.js";
import { Tooltip } from "./tooltip.js";

export class View {
  constructor(root, range, label, searchLabel) {
    this.root = root;
    this.range = range;
    this.toolbar = new Toolbar(root, this, searchLabel);
    this.strips = element("div", { className: "kymo-strips" });
    root.append(this.strips);
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
  stepAlong() {}
  stepAcross() {}
  zoomToChosen() {}
  mark() {}
  beginRange() {}
  dragRange() {}
  endRange() {}
  extendRange() {}
  // Shows texts and elements below the chart.
  explain(title, parts) {
    this.notes ??= new Panel(this.root, "Notes", () => {});
    this.notes.show(title, ...parts);
  }
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
