# SPDX-License-Identifier: Apache-2.0
"""Details, selected ranges, pickers and the keyboard in the timelines of the HTML report, in a real browser."""

import base64
import re
import unittest
import zlib

from kymo_tool import needs_installed
from report_page import CHROMIUM, COMMON, ReportPageTest

RUNS_EXERCISE = (
    COMMON
    + """
const view = kymoTimelines[1];
const results = {};
view.frame();
const tracksOf = (name, rank = 0) =>
  view.tracks.filter((track) => {
    const lane = view.rows.lanes[track.lane];
    return lane.name === name && lane.rank === rank && lane.run === view.lanes.run;
  });
const bar = (track, i) => ({ track, i, neighbours: 0 });
const labelOf = ({ track, i }) => view.rows.texts[track.label[i]];
const [stream] = tracksOf("stream 7");
const clickOn = (track, i) => {
  const [x, y] = [view.xAt((track.start[i] + track.end[i]) / 2), view.trackTop(track) + 9];
  pointer(view, "pointerdown", x, y);
  pointer(view, "pointerup", x, y);
};
clickOn(stream, 0);
results.kernel = panelText(view);
results.kernelArrows = view.arrows.length;
[...view.root.querySelectorAll(".kymo-link")].find((each) => each.textContent === "cudaLaunchKernel").click();
results.launch = [labelOf(view.selected), panelText(view)];
const threads = tracksOf("thread 0");
view.choose(bar(threads.find((track) => labelOf(bar(track, 0)) === "aten::linear"), 0));
results.outer = panelText(view);
view.choose(bar(threads.find((track) => labelOf(bar(track, 0)) === "block"), 0));
results.module = panelText(view);
view.choose(bar(stream, 0));
for (let i = 0; i < 19; ++i) press(view, ".");
const lastOne = labelOf(view.selected);
press(view, ".");
results.lastKernelByKeys = [lastOne, labelOf(view.selected)];
press(view, "Escape");
view.reset();
view.frame();
pointer(view, "pointerdown", view.xAt(0), 60, 1, { shiftKey: true });
pointer(view, "pointermove", view.xAt(100000), 60, 1, { shiftKey: true });
pointer(view, "pointerup", view.xAt(100000), 60, 1, { shiftKey: true });
results.range = panelText(view);
press(view, "Escape");
view.selection.begin(0);
view.selection.to(100000 - 0.03 * view.range.span);
press(view, "ArrowRight", { shiftKey: true });
results.keyRange = panelText(view);
press(view, "Escape");
for (const i of [0, 2]) {
  pointer(view, "pointermove", view.xAt(stream.start[i]) + 1, view.trackTop(stream) + 9);
  press(view, "m");
}
results.measured = panelText(view);
press(view, "Escape");
const { run, rank, step } = view.pickers;
const pick = (select, value) => {
  select.value = value;
  select.dispatchEvent(new Event("change"));
  view.frame();
};
results.pickers = [run, rank, step].map((select) => [...select.options].map((option) => option.value));
const titles = () => view.lanes.lines.filter((line) => line.panel).map((line) => line.text);
results.ranks = titles();
pick(step, "4");
results.stepFour = range(view);
pick(step, "all");
view.range.set(50000, 50150);
const [power] = view.counters;
results.counter = [power.at(49000), power.extent(49950, 50200), power.name];
view.reset();
const { overview } = view;
overview.surface.canvas.setPointerCapture = () => {};
const drag = (from, to) => {
  overview.frame();
  overview.down({ button: 0, pointerId: 1, offsetX: overview.xAt(from) });
  overview.move({ offsetX: overview.xAt(to) });
  overview.grabbed = null;
};
view.range.set(20000, 120000);
drag(70000, 100000);
results.overviewDrag = range(view).map(Math.round);
drag(50000, 20000);
results.overviewEdge = range(view).map(Math.round);
pick(rank, "1");
results.oneRank = titles();
pick(run, "infer");
results.otherRun = range(view);
view.searchFor("gemm");
results.otherRunFirst = panelText(view);
"""
)

# Controls that cannot be focused or have no name, and what keys alone can open.
KEYBOARD_EXERCISE = (
    COMMON
    + """
const view = kymoTimelines[1];
const results = {};
const kinds = ["button", "select", "input", "canvas"].map((kind) => `.kymo-live ${kind}`).join();
const controls = [...document.querySelectorAll(kinds)].filter((each) => each.offsetParent !== null);
const named = (each) => each.getAttribute("aria-label") || each.textContent.trim() || each.labels?.[0]?.textContent;
results.controls = controls.length;
results.unreachable = controls.filter((each) => each.tabIndex < 0 || !named(each)).map((each) => each.outerHTML);
canvasOf(view).focus();
press(view, "/");
document.activeElement.value = "gemm";
document.activeElement.dispatchEvent(new Event("input"));
document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", cancelable: true }));
results.details = panelText(view);
"""
)


@needs_installed(CHROMIUM, "chromium")
class TimelineDetailsBrowserTest(ReportPageTest):
    def test_details_ranges_and_pickers(self):
        results = self.exercise(RUNS_EXERCISE)
        kernel = results["kernel"]
        for fact in ("gemm", "5.000 µs", "step3", "phaseforward", "moduleblock", "grid 8×1×1", "GPU: stream 7"):
            self.assertIn(fact, kernel)
        self.assertIn("launched bycudaLaunchKernel (starts 5.000 µs earlier)", kernel)
        for fact in ("operatoraten::addmm", "next in the lanegemm"):
            self.assertIn(fact, kernel)
        self.assertEqual(results["kernelArrows"], 1)
        self.assertEqual(results["launch"][0], "cudaLaunchKernel", "the link leads to the launch")
        self.assertIn("Started 1 in 5.000 µs of device time", results["launch"][1])
        self.assertIn("Started 1 in", results["outer"], "an operator started what the one within it did")
        self.assertIn("Started 10 in 50.00 µs", results["module"])
        self.assertEqual(results["lastKernelByKeys"], ["gemm", "gemm"])
        # The tenth kernel ends 2 µs after the range.
        for fact in ("Selected range: 100.0 µs", "rank 0: GPU: stream 7", "48.0 %", "Most time", "gemm"):
            self.assertIn(fact, results["range"])
            self.assertIn(fact, results["keyRange"])
        self.assertIn("Measured: 20.00 µs", results["measured"])
        self.assertEqual(results["pickers"], [["train", "infer"], ["all", "0", "1"], ["all", "3", "4"]])
        self.assertEqual(results["ranks"], ["rank 0", "rank 1"], "one below the other on one axis")
        self.assertEqual(results["stepFour"], [100_000, 202_500])
        self.assertEqual(results["oneRank"], ["rank 1"])
        self.assertEqual(results["otherRun"], [0, 202_000])
        self.assertIn("gemm", results["otherRunFirst"])
        self.assertEqual(results["counter"], [300, [300, 420], "power"])
        self.assertEqual(results["overviewDrag"], [50_000, 150_000])
        self.assertEqual(results["overviewEdge"], [20_000, 150_000])

    def test_files_are_those_of_the_export(self):
        self.kymo("run", "saxpy", "--set", "n=1000", "--steps", "2", "--no-verify", "--passes", "time,trace")
        self.kymo("report", "quick", "--out", "quick", "--format", "html")
        page = (self.work / "quick" / "report.html").read_text()
        found = re.search(r'<script type="application/zlib" data-file="0">([^<]*)</script>', page)
        self.assertIsNotNone(found)
        self.kymo("export", "perfetto", "--pass", "trace", "-o", "trace.json")
        self.assertEqual(zlib.decompress(base64.b64decode(found.group(1))), (self.work / "trace.json").read_bytes())

    def test_keyboard_alone(self):
        results = self.exercise(KEYBOARD_EXERCISE)
        self.assertEqual(results["unreachable"], [], "every control has a place in the tab order and a name")
        self.assertGreater(results["controls"], 15)
        self.assertIn("gemm", results["details"])


if __name__ == "__main__":
    unittest.main()
