// SPDX-License-Identifier: Apache-2.0
// What a timeline tells about a bar or a range.

import { element } from "./canvas.js";
import { RangeSummary } from "./measure.js";
import { factList, linkButton, Panel, smallTable } from "./panel.js";
import { countText, durationText, percentText } from "./units.js";

const MOST_LISTED = 20;

export class Details {
  constructor(view) {
    this.view = view;
    this.panel = new Panel(view.root, "Details", (hadFocus) => view.forget(hadFocus));
  }
  text(number) {
    return number < 0 ? "" : this.view.rows.texts[number];
  }
  labelOf({ track, i }) {
    return this.view.rows.texts[track.label[i]];
  }
  link(bar, text = this.labelOf(bar)) {
    return linkButton(text, () => this.view.jumpTo(bar));
  }

  showBar(bar) {
    const { view } = this;
    const { track, i } = bar;
    const facts = view
      .facts(bar)
      .filter(([name]) => name)
      .map(([name, text]) => [name, text]);
    const relations = this.relations(bar);
    const buttons = element(
      "div",
      { className: "kymo-bar" },
      element("button", { type: "button", textContent: "Zoom to it (F)", onclick: () => view.zoomToChosen() }),
      element("button", {
        type: "button",
        textContent: "Find all of this name",
        onclick: () => view.searchFor(this.labelOf({ track, i })),
      }),
    );
    this.panel.show(this.labelOf(bar), factList([...facts, ...relations]), this.startedTable(bar), buttons);
  }

  // Launch, operator, module and neighbors of a bar.
  relations(bar) {
    const { view } = this;
    const { links } = view;
    const relations = [];
    const launch = links.launchOf(bar);
    const operator = links.operatorOf(bar);
    const delay = (from) => ` (starts ${durationText(bar.track.start[bar.i] - from.track.start[from.i])} earlier)`;
    if (launch) relations.push(["launched by", element("span", {}, this.link(launch), delay(launch))]);
    if (operator) relations.push(["operator", element("span", {}, this.link(operator), delay(operator))]);
    const module = launch || operator ? null : view.moduleOf(bar);
    if (module) relations.push(["module on the host", this.link(module)]);
    if (!launch && this.isDevice(bar))
      relations.push(["launch", `not recorded${operator || module ? "" : "; add --trace-detail api to the run"}`]);
    const around = links.around(bar);
    if (around.length)
      relations.push(["inside of", element("span", {}, ...around.flatMap((each) => [this.link(each), " "]))]);
    for (const [name, other] of [
      ["previous", bar.i - 1],
      ["next", bar.i + 1],
    ]) {
      if (other < 0 || other >= bar.track.count) continue;
      const gap =
        other < bar.i ? bar.track.start[bar.i] - bar.track.end[other] : bar.track.start[other] - bar.track.end[bar.i];
      const neighbour = { track: bar.track, i: other, neighbours: 0 };
      relations.push([`${name} in the lane`, element("span", {}, this.link(neighbour), ` (gap ${durationText(gap)})`)]);
    }
    return relations;
  }
  isDevice({ track }) {
    return (
      this.view.rows.lanes[track.lane].group === "GPU" &&
      track.event.length > 0 &&
      track.scope.some((each) => each >= 0)
    );
  }

  startedTable(bar) {
    const { view } = this;
    const started = view.startedBy(bar);
    if (started.length === 0) return "";
    const total = started.reduce((sum, { track, i }) => sum + track.length(i), 0);
    const rows = started
      .slice(0, MOST_LISTED)
      .map((each) => [
        this.link(each),
        view.rows.lanes[each.track.lane].name,
        durationText(each.track.start[each.i] - bar.track.start[bar.i]),
        durationText(each.track.length(each.i)),
      ]);
    const more = started.length > MOST_LISTED ? `; the first ${MOST_LISTED}` : "";
    const caption = `Started ${countText(started.length)} in ${durationText(total)} of device time${more}`;
    return smallTable(caption, [["name"], ["lane"], ["after", true], ["duration", true]], rows);
  }

  showRange(low, high) {
    const { view } = this;
    const summary = new RangeSummary(view, low, high);
    const span = high - low;
    const lanes = summary.lanes.map(({ lane, count, total, busy }) => [
      [view.lanes.titleOf(lane), lane.group, lane.name].filter(Boolean).join(": "),
      countText(count),
      durationText(total),
      percentText(busy / span),
    ]);
    const names = summary.names
      .slice(0, MOST_LISTED)
      .map((each) => [
        this.link(each.first, view.rows.texts[each.label]),
        view.rows.classes[each.kind],
        countText(each.count),
        durationText(each.total),
        percentText(each.total / span),
      ]);
    const facts = [
      ["from", durationText(low)],
      ["to", durationText(high)],
      ["events", countText(summary.count)],
      ["total time", durationText(summary.total)],
    ];
    this.panel.show(
      `Selected range: ${durationText(span)}`,
      factList(facts),
      smallTable("By lane", [["lane"], ["events", true], ["total", true], ["busy", true]], lanes),
      smallTable(
        "Most time, without what is nested",
        [["name"], ["class"], ["events", true], ["total", true], ["of the range", true]],
        names,
      ),
    );
    return summary;
  }
}
