// SPDX-License-Identifier: Apache-2.0
// The lanes of a timeline that are shown, and their positions.

export const ROW = 18;
const LANE_GAP = 5;
const HEADING = 22;
const RULE = 6;
export const PANEL = 26;
const PANEL_GAP = 10;
export const COUNTER = 44;
export const NAME_ROW = 14; // of a name in several rows

export const HIDDEN = -1e9;

export class Lanes {
  constructor(lanes, counters) {
    this.lanes = lanes;
    this.counters = counters;
    this.runs = distinct(lanes.map((lane) => lane.run)).filter((run) => run !== undefined);
    this.choose({ run: this.runs[0] });
  }
  // The ranks of a run, in order.
  ranks(run = this.run) {
    const found = this.lanes.filter((lane) => lane.run === run && lane.rank !== undefined).map((lane) => lane.rank);
    return distinct(found).sort((a, b) => a - b);
  }
  // Shows the lanes of one run, and of one of its ranks or (without a rank) of all of them.
  choose({ run, rank }) {
    this.run = run;
    this.rank = rank;
    this.place();
  }
  shows(lane) {
    return (
      (this.run === undefined || lane.run === undefined || lane.run === this.run) &&
      (this.rank === undefined || lane.rank === undefined || lane.rank === this.rank)
    );
  }
  titleOf(lane) {
    return lane.panel ?? (lane.rank !== undefined && this.ranks().length > 1 ? `rank ${lane.rank}` : undefined);
  }

  place() {
    this.lines = [];
    this.tops = this.lanes.map(() => HIDDEN);
    this.counterTops = this.counters.map(() => HIDDEN);
    this.y = 2;
    let last = {};
    this.lanes.forEach((lane, i) => {
      if (!this.shows(lane)) return;
      const title = this.titleOf(lane);
      const opens = title !== undefined && title !== last.title;
      if (opens && last.lane) this.placeCounters(last.lane);
      if (opens) this.addPanel(title);
      if (lane.group !== (opens ? "" : last.group || "")) this.addHeading(lane.group);
      this.lines.push({ text: lane.name, heading: false, y: this.y + ROW / 2, top: this.y });
      this.tops[i] = this.y;
      this.y += lane.rows * ROW + LANE_GAP;
      last = { title, group: lane.group, lane };
    });
    if (last.lane) this.placeCounters(last.lane);
    this.height = this.y + 2;
  }
  addPanel(text) {
    this.y += this.lines.length ? PANEL_GAP : 0;
    this.lines.push({ text, panel: true, y: this.y + (PANEL - 4) / 2, top: this.y });
    this.y += PANEL;
  }
  addHeading(text) {
    const height = text ? HEADING : RULE;
    this.lines.push({ text, heading: true, y: this.y + height / 2 + 2, top: this.y });
    this.y += height;
  }
  // The counters of the rank of a lane, below its lanes.
  placeCounters(lane) {
    const own = this.counters
      .map((_, i) => i)
      .filter((i) => {
        const counter = this.counters[i];
        return this.shows(counter) && (counter.rank === undefined || counter.rank === lane.rank);
      });
    const free = own.filter((i) => this.counterTops[i] === HIDDEN);
    if (free.length) this.addHeading("counters");
    for (const i of free) {
      const { name, unit } = this.counters[i];
      this.lines.push({
        text: unit && unit !== "B" ? `${name} (${unit})` : name, // bytes have a prefix in each value
        heading: false,
        rows: Math.floor(COUNTER / NAME_ROW),
        y: this.y + COUNTER / 2,
        top: this.y,
      });
      this.counterTops[i] = this.y;
      this.y += COUNTER + LANE_GAP;
    }
  }
}

const distinct = (values) => [...new Set(values)];
