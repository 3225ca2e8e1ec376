# SPDX-License-Identifier: Apache-2.0
"""The segments of an allocator by address in the HTML report, in a real browser."""

import unittest

from kymo_tool import KymoTest, needs_installed
from report_page import CHROMIUM, COMMON, ReportPageTest

MEMORY = """-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory.
-- empty: None.
-- column weights: format="bytes"
SELECT column1 AS time_ns, column2 AS weights FROM (VALUES (0, 4096), (1000, 11264), (2000, 9216), (3000, 5120))
"""

# Three segments; the third is released, and at 0x7f0000004000 two parts of an expandable segment follow each other.
BLOCKS = """
SELECT column1 AS start_ns, column2 AS end_ns, column3 AS bytes, column4 AS label, column5 AS category,
       column6 AS detail, 139637976727552 + column7 AS address, column8 AS reusable_ns
FROM (VALUES (0, NULL, 4096, 'w', 'weights', 'model ← outer ← main', 0, NULL),
             (1000, 3000, 1024, 'a', 'activations', NULL, 6144, NULL),
             (1000, 2000, 2048, 'b', 'activations', NULL, 1048576, 2500),
             (1000, 2000, 4096, 'c', 'weights', NULL, 18432, NULL),
             (3000, NULL, 1024, 'd', 'weights', NULL, 0x4000, NULL))
"""
SEGMENTS = """-- SPDX-License-Identifier: Apache-2.0
-- empty: No segments on this device.
SELECT column1 AS start_ns, column2 AS end_ns, 139637976727552 + column3 AS address, column4 AS bytes,
       column5 AS stream
FROM (VALUES (0, NULL, 0, 8192, 0), (0, NULL, 0x4000, 4096, 0), (500, NULL, 0x5000, 4096, 0),
             (1000, 2600, 1048576, 2048, 7))
"""
REPORT = """title = "Segments"
[[section]]
heading = "Memory"
[[section.chart]]
file = "memory.sql"
kind = "area"
x = "time_ns"
blocks = "blocks.sql"
segments = "segments.sql"
"""

EXERCISE = (
    COMMON
    + """
const [area, picture, view] = kymoAreas;
const results = { drawn: view.frame(), peak: view.line.textContent, time: view.time };
const facts = (x, y) => {
  pointer(view, "pointermove", x, y);
  return view.tooltip.box.hidden ? null : view.tooltip.box.textContent;
};
const yOf = (k) => view.plot.top + (k + 0.5) * view.rowHeight;
results.rows = view.found.map((row) => [view.segments.addressText(row.address), row.bytes, row.allocated, row.gaps]);
results.block = facts(view.xAt(2000), yOf(0));
results.gap = facts(view.xAt(5000), yOf(0));
results.across = facts(view.xAt(4000), yOf(1));
results.outside = facts(view.xAt(2000), view.plot.top + view.plot.height + 5);
area.frame();
pointer(area, "pointermove", area.xAt(2200), 100);
results.pending = view.line.textContent;
area.leave();
results.left = view.time;
pointer(area, "pointerdown", area.xAt(2700), 100);
pointer(area, "pointerup", area.xAt(2700), 100);
results.clicked = [view.time, view.line.textContent, area.marked];
[...area.root.querySelectorAll("button")].find((each) => each.textContent === "Peak").click();
results.jumped = view.time;
view.slider.value = 0;
view.slider.dispatchEvent(new Event("input"));
results.slider = [view.time, view.line.textContent];
[...area.root.querySelectorAll("button")].find((each) => each.textContent === "By event").click();
area.frame();
pointer(area, "pointermove", area.xAt(area.words.axis.indexOf(2200)), 100);
results.byEvent = [Math.round(view.time / 100), view.line.textContent];
area.leave();
picture.showPeak();
view.fill.click();
view.frame();
results.sameWidth = facts(view.xAt(0.75), yOf(2));
view.click(view.xAt(0.75), yOf(2));
results.pinned = view.tooltip.pinned;
press(view, "Escape");
results.closed = view.tooltip.box.hidden;
view.reset();
results.scrolls = view.scrolls();
"""
)


@needs_installed(CHROMIUM, "chromium")
class MemorySegmentsBrowserTest(ReportPageTest):
    def write_report(self, segments):
        folder = self.work / "segments"
        folder.mkdir(exist_ok=True)
        for name, text in (
            ("report.toml", REPORT),
            ("memory.sql", MEMORY),
            ("blocks.sql", BLOCKS),
            ("segments.sql", segments),
        ):
            (folder / name).write_text(text)
        self.kymo("report", "./segments", "--out", "out", "--format", "html")
        self.page = (self.work / "out" / "report.html").read_text()

    def setUp(self):
        KymoTest.setUp(self)
        self.kymo("run", "saxpy", "--set", "n=1000", "--steps", "1", "--warmup", "0", "--no-verify")

    def test_segments_at_a_time(self):
        self.write_report(SEGMENTS)
        results = self.exercise(EXERCISE)
        self.assertEqual(results["time"], 1000, "the peak")
        self.assertEqual(
            results["peak"],
            "1.000 µs: reserved 18.00 KiB in 3 segments − allocated 11.00 KiB = 7.00 KiB free (38.9 %) in 4 gaps; "
            "largest free block 2.00 KiB.",
        )
        self.assertEqual(
            results["rows"],
            [
                ["0x7f0000000000", 8192, 5120, [[4096, 2048], [7168, 1024]]],
                ["0x7f0000004000", 8192, 4096, [[16384, 2048], [22528, 2048]]],
                ["0x7f0000100000", 2048, 2048, []],
            ],
            "adjacent parts with a block across them are one segment",
        )
        self.assertEqual(results["drawn"]["blocks"], 4)
        for fact in ("w", "4.00 KiB", "category weights", "outer", "main", "address 0x7f0000000000", "stream 0"):
            self.assertIn(fact, results["block"])
        for fact in ("free 2.00 KiB at 0x7f0000001000", "allocated 5.00 KiB (62.5 %) in 2 blocks", "8.00 KiB"):
            self.assertIn(fact, results["gap"])
        self.assertIn("segment 0x7f0000004000", results["across"])
        self.assertIsNone(results["outside"])
        self.check_times(results)

    def check_times(self, results):
        self.assertIn("allocated 5.00 KiB − 2.00 KiB freed but in use by a stream = 11.00 KiB free", results["pending"])
        self.assertEqual(results["left"], 1000, "the chosen time is back")
        time, line, marked = results["clicked"]
        self.assertAlmostEqual(time, 2700, delta=5)
        self.assertEqual(marked, time)
        self.assertIn("reserved 16.00 KiB in 2 segments", line)
        self.assertEqual(results["jumped"], 1000)
        self.assertEqual(results["slider"][0], 0)
        self.assertIn("reserved 12.00 KiB in 2 segments − allocated 4.00 KiB", results["slider"][1])
        self.assertEqual(results["byEvent"][0], 22)
        self.assertIn("freed but in use by a stream", results["byEvent"][1])
        self.assertIn("stream 7", results["sameWidth"])
        self.assertTrue(results["pinned"])
        self.assertTrue(results["closed"])
        self.assertFalse(results["scrolls"])

    def test_says_that_there_are_no_segments(self):
        self.write_report("-- SPDX-License-Identifier: Apache-2.0\n-- empty: No segments on this device.\n" + NOTHING)
        results = self.exercise("const results = { text: document.querySelector('.kymo-live').textContent };")
        self.assertIn("No segments on this device.", results["text"])


NOTHING = "SELECT 0 AS start_ns, 0 AS end_ns, 0 AS address, 0 AS bytes, 0 AS stream WHERE 0"

if __name__ == "__main__":
    unittest.main()
