// SPDX-License-Identifier: Apache-2.0
// A box with details of the item under the pointer; a click pins it, so that its text can be selected.

import { element } from "./canvas.js";
import { clamp } from "./units.js";

export class Tooltip {
  constructor(parent) {
    this.box = element("div", { className: "kymo-tip", hidden: true });
    this.box.setAttribute("role", "status");
    this.parent = parent;
    this.pinned = false;
    parent.append(this.box);
  }
  // Beside the point; above it if the box would cover what is below `bottom`, such as an axis.
  show(lines, x, y, bottom = Infinity) {
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
    const below = y + 16 + this.box.offsetHeight <= bottom;
    this.box.style.left = `${clamp(x + 14, 0, Math.max(0, room))}px`;
    this.box.style.top = `${below ? y + 16 : y - 12 - this.box.offsetHeight}px`;
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
