// SPDX-License-Identifier: Apache-2.0
// Select elements for the run, the ranks and the step of a timeline.

import { element } from "./canvas.js";

const ALL = "all";

export class Pickers {
  constructor(view) {
    this.view = view;
    this.bar = element("div", { className: "kymo-bar kymo-pickers" });
    this.run = this.picker("Run", () => view.chooseRun(this.run.value));
    this.rank = this.picker("Rank", () =>
      view.chooseRank(this.rank.value === ALL ? undefined : Number(this.rank.value)),
    );
    this.step = this.picker("Step", () =>
      view.chooseStep(this.step.value === ALL ? undefined : Number(this.step.value)),
    );
    this.refresh();
  }
  picker(name, onchange) {
    const select = element("select", { onchange });
    select.setAttribute("aria-label", name);
    this.bar.append(element("label", {}, `${name} `, select));
    return select;
  }
  fill(select, options, chosen) {
    select.replaceChildren(
      ...options.map(([value, text]) => element("option", { value, textContent: text, selected: value === chosen })),
    );
    select.parentElement.hidden = options.length < 2;
  }
  // Fills the elements with what the view offers, and hides those without a choice.
  refresh() {
    const { lanes, steps, step } = this.view;
    const ranks = lanes.ranks().map((rank) => [String(rank), `rank ${rank}`]);
    this.fill(
      this.run,
      lanes.runs.map((run) => [run, run]),
      lanes.run,
    );
    this.fill(this.rank, ranks.length > 1 ? [[ALL, "all ranks"], ...ranks] : ranks, String(lanes.rank ?? ALL));
    const names = steps.map(({ step: number }) => [String(number), `step ${number}`]);
    this.fill(this.step, names.length > 1 ? [[ALL, "all steps"], ...names] : names, String(step ?? ALL));
    this.bar.hidden = [this.run, this.rank, this.step].every((each) => each.parentElement.hidden);
  }
}
