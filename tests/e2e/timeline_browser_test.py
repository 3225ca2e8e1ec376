# SPDX-License-Identifier: Apache-2.0
"""The interactive charts of the HTML report in a real browser: what they draw, find and show for very many rows."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
import unittest

from kymo_tool import KymoTest, needs_installed

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

EVENTS = 200_000
BLOCKS = 50_000

# Three streams with 66,000 kernels, a phase every 1,000 kernels and a step every 3,000; 800 ns of work in every 1,000
# ns.
TIMELINE = f"""-- SPDX-License-Identifier: Apache-2.0
-- caption: Kernels.
-- empty: None.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 197999)
SELECT 'stream ' || (i % 3) AS lane, 5000000 + (i / 3) * 1000 AS start_ns,
       5000000 + (i / 3) * 1000 + 800 AS end_ns, 'kernel ' || (i % 50) AS label,
       'class ' || (i % 7) AS class, 'launch ' || i AS detail, 'GPU' AS "group"
FROM n
UNION ALL
SELECT 'phases', 5000000 + i * 33000, 5000000 + (i + 1) * 33000, 'phase ' || i, 'phase', NULL, NULL
FROM n WHERE i < {EVENTS - 198_000}
"""

MEMORY = """-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory.
-- empty: None.
-- column weights: format="bytes"
-- column activations: format="bytes"
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 49999)
SELECT i * 1000 AS time_ns, 1073741824 AS weights,
       CASE WHEN i = 31415 THEN 999999999 ELSE (i % 1000) * 100000 END AS activations
FROM n
"""

BANDS = "SELECT 'forward' AS label, 0 AS start, 20000000 AS end UNION ALL SELECT 'backward', 20000000, 50000000"

# A thousand weights that stay alive; the other blocks live 2 ms each, so that about 2,000 of them are alive at once.
ALLOCATIONS = f"""
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {BLOCKS - 1})
SELECT i * 1000 AS start_ns, CASE WHEN i < 1000 THEN NULL ELSE i * 1000 + 2000000 END AS end_ns,
       4096 * (1 + i % 16) AS bytes, 'tensor ' || (i % 100) AS label,
       CASE WHEN i < 1000 THEN 'weights' ELSE 'activations' END AS category, 'line ' || i AS detail
FROM n
"""

REPORT = """title = "Browser"
[[section]]
heading = "Charts"
[[section.chart]]
file = "timeline.sql"
kind = "timeline"
[[section.chart]]
file = "memory.sql"
kind = "area"
x = "time_ns"
y_title = "memory"
bands = "bands.sql"
blocks = "blocks.sql"
"""

# Common part of every exercise: input events as caused by a user, and the time of a frame.
COMMON = """
const canvasOf = (view) => view.surface.canvas;
const press = (view, key, more = {}) =>
  canvasOf(view).dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true, ...more }));
const at = (view, x, y) => {
  const box = canvasOf(view).getBoundingClientRect();
  return { clientX: box.left + x, clientY: box.top + y, bubbles: true, cancelable: true };
};
const wheel = (view, deltaY, more = {}) =>
  canvasOf(view).dispatchEvent(new WheelEvent("wheel", { deltaY, ...at(view, 500, 40), ...more }));
const pointer = (view, kind, x, y, id = 1) => {
  canvasOf(view).setPointerCapture = () => {};  // there is no real finger to capture
  canvasOf(view).dispatchEvent(new PointerEvent(kind, { pointerId: id, button: 0, ...at(view, x, y) }));
};
const range = (view) => [view.range.low, view.range.high];
const slowest = (view, frame) => {
  const times = [];
  for (let i = 0; i < 40; ++i) {
    view.range.zoom(i % 2 ? 1.25 : 0.75);
    view.range.pan(0.01);
    times.push(frame().milliseconds);
  }
  view.reset();
  times.sort((a, b) => a - b);
  return { median: times[20], slowest: times[39] };
};
"""

TIMELINE_EXERCISE = (
    COMMON
    + """
const [view] = kymoTimelines;
const results = { views: [kymoTimelines.length, kymoAreas.length], all: view.frame(), whole: range(view) };
view.zoomTo(1000000, 1100000);
results.zoomed = view.frame();
results.zoomedRange = range(view);
const drawnTip = () => (view.tooltip.box.hidden ? "" : view.tooltip.box.textContent);
pointer(view, "pointermove", view.xAt(1050400), view.plot.top + 22 + 9);
results.tip = drawnTip();
pointer(view, "pointerdown", view.xAt(1050400), view.plot.top + 22 + 9);
pointer(view, "pointerup", view.xAt(1050400), view.plot.top + 22 + 9);
pointer(view, "pointerleave", 0, 0);
results.pinned = [drawnTip() !== "", view.tooltip.pinned];
press(view, "Escape");
results.dismissed = drawnTip();
wheel(view, -100);
results.wheelWithoutFocus = range(view);
wheel(view, -100, { ctrlKey: true });
results.wheelWithCtrl = range(view);
canvasOf(view).focus();
wheel(view, 100);
results.wheelWithFocus = range(view);
view.zoomTo(1000000, 1100000);
press(view, "d");
results.right = range(view);
press(view, "ArrowLeft");
results.leftAgain = range(view);
press(view, "w");
results.keyZoom = range(view);
press(view, "s");
press(view, "-");
results.keyZoomOut = range(view);
view.zoomTo(1000000, 1100000);
view.frame();
pointer(view, "pointerdown", 600, 40);
pointer(view, "pointermove", 500, 40);
pointer(view, "pointerup", 500, 40);
results.dragged = range(view);
pointer(view, "pointerdown", 500, 40, 1);
pointer(view, "pointerdown", 600, 40, 2);
pointer(view, "pointermove", 700, 40, 2);
pointer(view, "pointerup", 700, 40, 2);
pointer(view, "pointerup", 500, 40, 1);
results.pinched = range(view);
press(view, "0");
results.reset = range(view);
view.toolbar.input.value = "KERNEL 49";
view.toolbar.input.dispatchEvent(new Event("input"));
results.found = [view.matches.count, view.toolbar.count.textContent];
const enter = (more) =>
  view.toolbar.input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", cancelable: true, ...more }));
enter();
results.first = [view.match, view.toolbar.count.textContent, drawnTip(), range(view)];
enter();
enter({ shiftKey: true });
enter({ shiftKey: true });
results.last = view.match;
results.searching = view.frame();
results.detail = view.search("launch 197999");
results.byClass = view.searchClass(view.rows.classes.indexOf("phase"));
results.nothing = [view.search("no such kernel"), view.next(), view.toolbar.count.textContent];
view.search("");
results.cleared = view.matches === null;
view.reset();
results.frames = slowest(view, () => view.frame());
view.search("kernel 1");
results.framesWhileSearching = slowest(view, () => view.frame());
results.focusable = canvasOf(view).tabIndex;
results.pictureHidden = getComputedStyle(document.querySelector(".kymo-picture")).display;
"""
)

MEMORY_EXERCISE = (
    COMMON
    + """
const [area, blocks] = kymoAreas;
const results = { area: area.frame(), whole: range(area) };
const tip = (view) => (view.tooltip.box.hidden ? "" : view.tooltip.box.textContent);
pointer(area, "pointermove", area.xAt(31415000), 100);
results.peak = tip(area);
area.zoomTo(10000000, 11000000);
area.frame();
results.shared = range(blocks);
pointer(area, "pointermove", area.xAt(10500500), 100);
results.value = tip(area);
area.reset();
results.blocks = blocks.frame();
const total = (time) => {
  const { count, start, end, bytes } = blocks.blocks;
  let sum = 0;
  for (let i = 0; i < count; ++i) if (start[i] <= time && time < end[i]) sum += bytes[i];
  return sum;
};
const drawnBytes = (x) => {
  const { picture, plot } = blocks;
  const column = Math.floor(((x - plot.left) / plot.width) * picture.width);
  let rows = 0;
  for (let y = 0; y < picture.height; ++y) if (picture.ids[y * picture.width + column] !== -1) ++rows;
  return (rows * blocks.shownBytes()) / picture.height;
};
const pixelBytes = () => blocks.shownBytes() / blocks.picture.height;
results.heights = [10, 25, 45].map((ms) => [total(ms * 1e6), drawnBytes(blocks.xAt(ms * 1e6)), pixelBytes()]);
blocks.zoomTo(30000000, 30002000);
blocks.zoomValues(1 / 200);
blocks.moveTo(0);
blocks.frame();
// From the bottom upwards the births ascend: the older, the lower.
const column = Math.floor(blocks.picture.width / 2);
const ids = [];
for (let y = 0; y < blocks.picture.height; ++y) ids.push(blocks.picture.ids[y * blocks.picture.width + column]);
results.ascending = ids.every((id, i) => i === 0 || id >= ids[i - 1]);
pointer(blocks, "pointermove", blocks.plot.left + blocks.plot.width / 2, blocks.plot.top + blocks.plot.height - 2);
results.block = tip(blocks);
blocks.reset();
results.smaller = blocks.setSmallest(4096 * 10);
results.filtered = blocks.frame();
results.merged = blocks.picture.ids.includes(-2);
results.found = blocks.search("tensor 42");
results.next = [blocks.next(), tip(blocks), blocks.toolbar.count.textContent];
results.category = blocks.searchCategory(blocks.blocks.rows.categories.indexOf("weights"));
blocks.setSmallest(0);
blocks.search("");
results.areaFrames = slowest(area, () => area.frame());
results.blockFrames = slowest(blocks, () => blocks.frame());
"""
)


@needs_installed(CHROMIUM, "chromium")
class TimelineBrowserTest(KymoTest):
    def setUp(self):
        super().setUp()
        self.kymo("run", "saxpy", "--set", "n=1000", "--steps", "1", "--warmup", "0", "--no-verify")
        report = self.work / "charts"
        report.mkdir()
        for name, text in (
            ("report.toml", REPORT),
            ("timeline.sql", TIMELINE),
            ("memory.sql", MEMORY),
            ("bands.sql", BANDS),
            ("blocks.sql", ALLOCATIONS),
        ):
            (report / name).write_text(text)
        self.kymo("report", "./charts", "--out", "out", "--format", "html")
        self.page = (self.work / "out" / "report.html").read_text()

    def open(self, page, width=1200):
        """Loads a page and returns its final text and the errors reported by the browser."""
        file = self.work / "page.html"
        file.write_text(page)
        done = subprocess.run(
            [
                CHROMIUM,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--enable-logging=stderr",
                "--host-resolver-rules=MAP * ~NOTFOUND",
                f"--user-data-dir={self.folder / 'profile'}",
                f"--window-size={width},900",
                "--virtual-time-budget=60000",  # the charts are decompressed after the page is loaded
                "--dump-dom",
                file.as_uri(),
            ],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done.stdout, [
            line for line in done.stderr.splitlines() if "CONSOLE" in line or "Content Security Policy" in line
        ]

    def exercise(self, script):
        """Runs a script after the page's own script, allowed by its hash in the same way; returns its `results`."""
        script = f"""kymoReady.then(() => {{
{script}
const shown = Object.assign(document.createElement('pre'), {{ textContent: JSON.stringify(results) }});
document.body.replaceChildren(shown);
}});
"""
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        page = self.page.replace("script-src ", f"script-src 'sha256-{digest}' ", 1).replace(
            "</body>", f"<script>{script}</script></body>"
        )
        text, complaints = self.open(page)
        self.assertEqual(complaints, [])
        found = re.search(r"<pre>(\{.*\})</pre>", text, re.DOTALL)
        self.assertIsNotNone(found, text[-2000:])
        return json.loads(found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))

    def test_a_timeline_of_many_events(self):
        results = self.exercise(TIMELINE_EXERCISE)
        self.assertEqual(results["views"], [1, 2])
        self.assertEqual(results["all"]["bars"], EVENTS)
        self.assertLessEqual(results["all"]["rectangles"], 5000)
        whole = results["whole"]
        self.assertLessEqual(whole[0], 0)
        self.assertGreaterEqual(whole[1], 66_000_000)
        # 100 kernels of each stream overlap the range, and the phases from the one at its start to the one at its end.
        self.assertEqual(results["zoomedRange"], [1_000_000, 1_100_000])
        self.assertEqual(results["zoomed"]["bars"], 3 * 101 + 4)
        for fact in ("kernel", "800 ns", "1.050 ms after the first event", "GPU: stream 0", "launch"):
            self.assertIn(fact, results["tip"])
        self.assertEqual(results["pinned"], [True, True])
        self.assertEqual(results["dismissed"], "")
        self.check_moves(results)
        self.check_search(results)
        self.assertEqual(results["focusable"], 0)
        self.assertEqual(results["pictureHidden"], "none")
        print(
            f"\n{EVENTS} events: frame {json.dumps(results['frames'])} ms, while searching "
            f"{json.dumps(results['framesWhileSearching'])} ms"
        )

    def check_moves(self, results):
        low, high = 1_000_000, 1_100_000
        span = high - low
        self.assertEqual(results["wheelWithoutFocus"], [low, high], "the page keeps its wheel")

        def width(name):
            return results[name][1] - results[name][0]

        self.assertLess(width("wheelWithCtrl"), span)
        self.assertGreater(width("wheelWithFocus"), width("wheelWithCtrl"))
        self.assertAlmostEqual(results["right"][0], low + 0.15 * span, delta=1)
        self.assertAlmostEqual(results["leftAgain"][0], low, delta=1)
        self.assertLess(width("keyZoom"), span)
        self.assertGreater(width("keyZoomOut"), span)
        self.assertGreater(results["dragged"][0], low)
        self.assertAlmostEqual(width("dragged"), span, delta=1)
        self.assertAlmostEqual(width("pinched"), span / 2, delta=span / 100)
        self.assertEqual(results["reset"], results["whole"])

    def check_search(self, results):
        self.assertEqual(results["found"], [3960, "3\u202f960 found"])
        match, count, tip, (low, high) = results["first"]
        self.assertEqual((match, count), (0, "1 of 3\u202f960"))
        self.assertIn("kernel 49", tip)
        self.assertLess(high - low, 100_000, "the match has become readable")
        self.assertLessEqual(low, 16_000)
        self.assertGreaterEqual(high, 16_800)
        self.assertEqual(results["last"], 3959, "before the first comes the last")
        self.assertEqual(results["detail"], 1)
        self.assertEqual(results["byClass"], 2000)
        self.assertEqual(results["nothing"], [0, -1, "no match"])
        self.assertTrue(results["cleared"])

    def test_memory_of_many_blocks(self):
        results = self.exercise(MEMORY_EXERCISE)
        self.assertIn("953.67 MiB", results["peak"], "one point among fifty keeps its column")
        for fact in ("10.50 ms", "in forward", "weights 1.00 GiB", "activations 47.68 MiB"):
            self.assertIn(fact, results["value"])
        self.assertEqual(results["shared"], [10_000_000, 11_000_000])
        self.assertGreater(results["blocks"]["alive"], 2900)
        for total, drawn, pixel in results["heights"]:
            self.assertAlmostEqual(drawn, total, delta=2 * pixel + total * 0.01)
        self.assertTrue(results["ascending"])
        for fact in (
            "tensor",
            "KiB",
            "category weights",
            "alive for the rest of the trace",
            "allocated in forward",
            "line",
        ):
            self.assertIn(fact, results["block"])
        self.assertEqual(results["smaller"], BLOCKS * 9 // 16)
        self.assertTrue(results["merged"])
        self.assertLess(results["filtered"]["blocks"], results["blocks"]["blocks"])
        self.assertEqual(results["found"], BLOCKS // 100)
        self.assertEqual(results["next"][0], 0)
        self.assertIn("tensor 42", results["next"][1])
        self.assertEqual(results["category"], 1000)
        print(
            f"\n50000 positions: frame {json.dumps(results['areaFrames'])} ms; {BLOCKS} blocks: "
            f"frame {json.dumps(results['blockFrames'])} ms"
        )

    def test_no_other_script_runs(self):
        text, complaints = self.open(
            self.page.replace("</body>", "<script>document.title = 'broken in'</script></body>")
        )
        self.assertNotIn("<title>broken in</title>", text)
        self.assertTrue(any("Content Security Policy" in line for line in complaints), complaints)

    def test_a_narrow_screen_and_a_damaged_chart(self):
        text, complaints = self.open(self.page, width=400)
        self.assertEqual(complaints, [])
        self.assertEqual(text.count('class="kymo-live"'), 2)
        damaged = self.page.replace('<script type="application/zlib">', '<script type="application/zlib">AAAA', 1)
        text, complaints = self.open(damaged)
        self.assertEqual(
            text.count('class="kymo-live"'), 1, "a chart that cannot be read stays a picture, the other lives"
        )
        self.assertEqual(len(complaints), 1)


if __name__ == "__main__":
    unittest.main()
