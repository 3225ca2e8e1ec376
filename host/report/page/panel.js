// SPDX-License-Identifier: Apache-2.0
// A panel below a chart: facts, and tables whose rows lead to what they describe.

import { element } from "./canvas.js";

export class Panel {
  // `onclose(hadFocus)` is called after the panel was closed.
  constructor(root, label, onclose) {
    this.box = element("section", { className: "kymo-panel", hidden: true });
    this.box.setAttribute("aria-label", label);
    this.onclose = onclose;
    root.append(this.box);
  }
  get isOpen() {
    return !this.box.hidden;
  }
  // `parts` are elements; the title is announced to screen readers.
  show(title, ...parts) {
    const heading = element("h4", { textContent: title });
    heading.setAttribute("role", "status");
    const close = element("button", {
      type: "button",
      textContent: "×",
      title: "Close (Escape)",
      onclick: () => this.close(),
    });
    close.setAttribute("aria-label", "Close");
    this.box.replaceChildren(element("div", { className: "kymo-panel-head" }, heading, close), ...parts);
    this.box.hidden = false;
  }
  close() {
    if (this.box.hidden) return;
    const hadFocus = this.box.contains(document.activeElement);
    this.box.hidden = true;
    this.onclose(hadFocus);
  }
}

// A list of names with a text or an element each.
export function factList(facts) {
  const list = element("dl");
  for (const [name, value] of facts) list.append(element("dt", { textContent: name }), element("dd", {}, value));
  return list;
}

export function linkButton(text, onclick) {
  return element("button", { type: "button", className: "kymo-link", textContent: text, onclick });
}

// `columns` are [heading, is it a number]; `rows` are arrays of texts or elements.
export function smallTable(caption, columns, rows) {
  const classOf = (i) => (columns[i][1] ? "num" : "");
  const head = element(
    "tr",
    {},
    ...columns.map(([text], i) => element("th", { textContent: text, className: classOf(i), scope: "col" })),
  );
  const body = rows.map((row) =>
    element("tr", {}, ...row.map((cell, i) => element("td", { className: classOf(i) }, cell))),
  );
  const table = element(
    "table",
    {},
    element("caption", { textContent: caption }),
    element("thead", {}, head),
    element("tbody", {}, ...body),
  );
  return element("div", { className: "kymo-small-table", tabIndex: 0 }, table);
}
