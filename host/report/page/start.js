// SPDX-License-Identifier: Apache-2.0
// Finds the charts of the page and makes them interactive. If that fails for a chart, its static picture remains.

import { areaViews } from "./area.js";
import { element } from "./canvas.js";
import { addSaveButtons } from "./save.js";
import { TimelineView } from "./timeline.js";

window.kymoTimelines = [];
window.kymoAreas = [];

// The content of a script element: compressed and in Base64.
function unpacked(script) {
  const text = atob(script.textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  return new Response(stream.pipeThrough(new DecompressionStream("deflate")));
}
const rowsOf = (figure) => unpacked(figure.querySelector('script[type="application/zlib"]')).json();
// The i-th file of a chart, which is after its rows.
const fileOf = (figure, i) => unpacked(figure.querySelector(`script[data-file="${i}"]`)).blob();

async function bringToLife(figure) {
  const live = element("div", { className: "kymo-live" });
  try {
    const rows = await rowsOf(figure);
    figure.append(live);
    figure.classList.add("kymo-awake");
    const views = rows.kind === "timeline" ? [new TimelineView(live, rows)] : areaViews(live, rows);
    const list = rows.kind === "timeline" ? window.kymoTimelines : window.kymoAreas;
    list.push(...views);
    list.sort((a, b) => (a.root.compareDocumentPosition(b.root) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 0));
    addSaveButtons(views[0], rows.files, (i) => fileOf(figure, i));
    views[0].showButtonsOf?.(views[0].lanes.run);
  } catch (error) {
    live.remove();
    figure.classList.remove("kymo-awake");
    console.error(error);
  }
}

// Charts become interactive when they come close to the visible part of the page, so that a long page is shown at once.
// Whoever reads kymoReady wakes all of them.
const figures = [...document.querySelectorAll(".kymo-chart-box")];
const awake = new Map();
function wake(figure) {
  if (!awake.has(figure)) awake.set(figure, bringToLife(figure));
  return awake.get(figure);
}
async function wakeAll() {
  for (const figure of figures) await wake(figure);
}
Object.defineProperty(window, "kymoReady", { get: wakeAll });

const watcher = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) wake(target);
  },
  { rootMargin: "1500px" },
);
for (const figure of figures) watcher.observe(figure);
