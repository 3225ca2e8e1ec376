// SPDX-License-Identifier: Apache-2.0
// Finds the charts of the page and makes them interactive. If that fails for a chart, its static picture remains.

window.kymoTimelines = [];
window.kymoAreas = [];

// Rows are JSON, compressed and in Base64.
function rowsOf(figure) {
  const text = atob(figure.querySelector('script[type="application/zlib"]').textContent);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

async function bringToLife(figure) {
  const live = element("div", { className: "kymo-live" });
  try {
    const rows = await rowsOf(figure);
    figure.append(live);
    figure.classList.add("kymo-awake");
    if (rows.kind === "timeline") window.kymoTimelines.push(new TimelineView(live, rows));
    else window.kymoAreas.push(...areaViews(live, rows));
  } catch (error) {
    live.remove();
    figure.classList.remove("kymo-awake");
    console.error(error);
  }
}

window.kymoReady = (async () => {
  for (const figure of document.querySelectorAll(".kymo-chart-box")) await bringToLife(figure);
})();
