// SPDX-License-Identifier: Apache-2.0
// Buttons above a chart, and a search box if `searchLabel` is given.

import { element } from "./canvas.js";
import { countText } from "./units.js";

export class Toolbar {
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
      if (event.key === "Escape") {
        this.input.value = "";
        view.search("");
      }
      if (event.key === "Enter" || event.key === "Escape") event.preventDefault();
    });
    parent.append(this.bar);
  }
  // Adds an element before the zoom buttons.
  add(item) {
    this.bar.insertBefore(item, this.bar.querySelector(".kymo-gap"));
    return item;
  }
  addButton(text, label, onclick) {
    const made = element("button", { type: "button", textContent: text, title: label, onclick });
    made.setAttribute("aria-label", label);
    return this.add(made);
  }
  showMatches(index, count, active) {
    this.count.textContent = !active
      ? ""
      : count === 0
        ? "no match"
        : `${index < 0 ? "" : `${countText(index + 1)} of `}${countText(count)}${index < 0 ? " found" : ""}`;
  }
}

// Shortcuts, folded away.
export function addHelp(root, entries) {
  const list = element("dl", { className: "kymo-keys" });
  for (const [keys, meaning] of entries)
    list.append(element("dt", { textContent: keys }), element("dd", { textContent: meaning }));
  root.append(
    element("details", { className: "kymo-help" }, element("summary", { textContent: "Keyboard and mouse" }), list),
  );
}
