// SPDX-License-Identifier: Apache-2.0
// Finds the charts of the page and makes them interactive. If that fails for a chart, its static picture remains.

window.kymoTimelines = [];
window.kymoAreas = [];

function bringToLife(figure) {
  const live = element("div", { className: "kymo-live" });
  figure.append(live);
  figure.classList.add("kymo-awake");
  try {
    const rows = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
    if (rows.kind === "timeline") window.kymoTimelines.push(new TimelineView(live, rows));
    else window.kymoAreas.push(...areaViews(live, rows));
  } catch (error) {
    live.remove();
    figure.classList.remove("kymo-awake");
    console.error(error);
  }
}

for (const figure of document.querySelectorAll(".kymo-chart-box")) bringToLife(figure);
