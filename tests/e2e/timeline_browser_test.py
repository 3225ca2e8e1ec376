# SPDX-License-Identifier: Apache-2.0
"""The interactive charts of the HTML report in a real browser: what they draw, find and show for very many rows."""

import unittest

from kymo_tool import needs_installed
from report_page import BLOCKS, CHROMIUM, COMMON, EVENTS, ReportPageTest

TIMELINE_EXERCISE = (
    COMMON
    + """
const [view] = kymoTimelines;
const results = { views: [kymoTimelines.length, kymoAreas.length], all: view.frame(), whole: range(view) };
view.range.pan(-3);
results.beforeZero = range(view);
view.range.zoom(30);
results.widest = range(view);
view.zoomTo(1000000, 1100000);
results.zoomed = view.frame();
results.zoomedRange = range(view);
const drawnTip = () => (view.tooltip.box.hidden ? "" : view.tooltip.box.textContent);
pointer(view, "pointermove", view.xAt(1050400), view.plot.top + 22 + 9);
results.tip = drawnTip();
pointer(view, "pointerdown", view.xAt(1050400), view.plot.top + 22 + 9);
pointer(view, "pointerup", view.xAt(1050400), view.plot.top + 22 + 9);
pointer(view, "pointerleave", 0, 0);
results.afterClick = [drawnTip(), panelText(view)];
press(view, "Escape");
results.dismissed = [drawnTip(), panelText(view)];
const box = view.tooltip.box;
pointer(view, "pointermove", view.xAt(1050400), view.plot.top + view.plot.height - 20);
results.tipAboveAxis = box.hidden || box.offsetTop + box.offsetHeight <= view.plot.top + view.plot.height;
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
results.first = [view.match, view.toolbar.count.textContent, panelText(view), range(view)];
view.zoomTo(1000000, 1000020);
enter();
enter({ shiftKey: true });
results.searchInTwentyNanoseconds = range(view);
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
view.dismiss();
results.focusable = canvasOf(view).tabIndex;
results.pictureHidden = getComputedStyle(document.querySelector(".kymo-picture")).display;
"""
)

MEMORY_EXERCISE = (
    COMMON
    + """
const [area, blocks, events] = kymoAreas;
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
  const { count, bytes } = blocks.blocks;
  const { start, end } = blocks.blocks.given;
  let sum = 0;
  for (let i = 0; i < count; ++i) if (start[i] <= time && time < end[i]) sum += bytes[i];
  return sum;
};
const drawnBytes = (x) => {
  const { picture, plot } = blocks;
  const column = Math.floor(((x - plot.left) / plot.width) * picture.width);
  let rows = 0;
  for (let y = 0; y < picture.height; ++y) if (picture.at(column, y) !== -1) ++rows;
  return (rows * blocks.shownBytes()) / picture.height;
};
const pixelBytes = () => blocks.shownBytes() / blocks.picture.height;
blocks.settle();
results.heights = [10, 25, 45].map((ms) => [total(ms * 1e6), drawnBytes(blocks.xAt(ms * 1e6)), pixelBytes()]);
blocks.zoomTo(30000000, 30002000);
blocks.zoomValues(1 / 200);
blocks.moveTo(0);
blocks.settle();
// From the bottom upwards the births ascend: the older, the lower.
const column = Math.floor(blocks.picture.width / 2);
const ids = [];
for (let y = 0; y < blocks.picture.height; ++y) ids.push(blocks.picture.at(column, y));
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
blocks.slider.value = 50;
blocks.slider.dispatchEvent(new Event("input"));
results.detail = [blocks.sliderText.textContent, blocks.frame().blocks];
blocks.slider.value = 100;
blocks.slider.dispatchEvent(new Event("input"));
results.allDetail = blocks.sliderText.textContent;

// Every row of the curves is there at any zoom: no plateau that the blocks do not have.
area.zoomTo(31400000, 31430000);
area.frame();
results.zoomedSteps = new Set(area.chosen).size;
area.reset();

const clickButton = (view, name) =>
  [...view.root.querySelectorAll("button")].find((each) => each.textContent === name).click();
clickButton(area, "Peak");
results.peakPanel = blocks.panel.box.textContent;
const alive = blocks.blocks.aliveAt(blocks.blocks.peak);
results.peakBlocks = [alive.length, alive.reduce((sum, i) => sum + blocks.blocks.bytes[i], 0), blocks.blocks.highest];
press(blocks, "Escape");
results.panelClosed = !blocks.panel.isOpen;
results.aligned = [area.plot.left, blocks.plot.left, (events.frame(), events.plot.left)];
results.alignedWidth = [area.plot.width, events.plot.width];

area.zoomTo(10000000, 20000000);
clickButton(area, "By event");
results.byEvent = [area.range.first, area.range.last, range(area).map((x) => Math.round(area.words.axis.timeOf(x)))];
area.frame();
blocks.settle();
results.byEventHeights = [0.3, 0.7].map((part) => {
  const index = Math.round(area.range.low + part * area.range.span);
  const time = area.words.axis.timeOf(index);
  return [total(time), drawnBytes(blocks.xAt(index + 0.5)), pixelBytes()];
});
results.eventsHidden = events.root.hidden;
clickButton(area, "By event");
results.byTime = range(area).map(Math.round);
area.reset();
"""
)


@needs_installed(CHROMIUM, "chromium")
class TimelineBrowserTest(ReportPageTest):
    def test_a_timeline_of_many_events(self):
        results = self.exercise(TIMELINE_EXERCISE)
        self.assertEqual(results["views"], [2, 4])
        self.assertEqual(results["all"]["bars"], EVENTS)
        self.assertLessEqual(results["all"]["rectangles"], 5000)
        whole = results["whole"]
        self.assertEqual(whole, [0, 66_000_000])
        self.assertEqual(results["beforeZero"], whole, "nothing is before the first event")
        self.assertEqual(results["widest"], whole)
        # 100 kernels of each stream overlap the range, and the phases from the one at its start to the one at its end.
        self.assertEqual(results["zoomedRange"], [1_000_000, 1_100_000])
        self.assertEqual(results["zoomed"]["bars"], 3 * 101 + 4)
        for fact in ("kernel", "800 ns", "1.050 ms after the first event", "GPU: stream 0", "launch"):
            self.assertIn(fact, results["tip"])
        self.assertEqual(results["tip"].count("kernel"), 1, "the name is there once")
        tip, panel = results["afterClick"]
        self.assertEqual(tip, "", "details replace the tooltip")
        for fact in ("kernel", "800 ns", "previous in the lane", "next in the lane", "gap 200 ns"):
            self.assertIn(fact, panel)
        self.assertEqual(results["dismissed"], ["", ""])
        self.assertTrue(results["tipAboveAxis"])
        self.check_moves(results)
        self.check_search(results)
        self.assertEqual(results["focusable"], 0)
        self.assertEqual(results["pictureHidden"], "none")

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
        low, high = results["searchInTwentyNanoseconds"]
        self.assertGreater(high - low, 800, "a match fits into the view")
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
        self.check_controls(results)

    def check_controls(self, results):
        self.assertEqual(results["zoomedSteps"], 31, "one step per row")
        text, drawn = results["detail"]
        self.assertRegex(text, r"^[\d\u202f]+ of 100\u202f000 blocks, from ")
        self.assertLess(drawn, results["blocks"]["blocks"])
        self.assertEqual(results["allDetail"], "100\u202f000 blocks")
        count, total, highest = results["peakBlocks"]
        self.assertEqual(total, highest, "the listed blocks are those of the peak")
        for fact in ("Peak: ", f"{count:,} blocks".replace(",", "\u202f"), "By category", "weights", "tensor"):
            self.assertIn(fact, results["peakPanel"])
        self.assertTrue(results["panelClosed"])
        self.assertEqual(len(set(results["aligned"])), 1, "one axis")
        self.assertEqual(len(set(results["alignedWidth"])), 1)
        first, last, visible = results["byEvent"]
        self.assertEqual(first, 0)
        self.assertGreater(last, 49_000)
        for shown, wanted in zip(visible, (10_000_000, 20_000_000), strict=True):
            self.assertAlmostEqual(shown, wanted, delta=2000)
        for total, drawn, pixel in results["byEventHeights"]:
            self.assertAlmostEqual(drawn, total, delta=2 * pixel + total * 0.01)
        self.assertTrue(results["eventsHidden"])
        for shown, wanted in zip(results["byTime"], (10_000_000, 20_000_000), strict=True):
            self.assertAlmostEqual(shown, wanted, delta=2000)

    def test_no_other_script_runs(self):
        text, complaints = self.open(
            self.page.replace("</body>", "<script>document.title = 'broken in'</script></body>")
        )
        self.assertNotIn("<title>broken in</title>", text)
        self.assertTrue(any("Content Security Policy" in line for line in complaints), complaints)

    def test_a_narrow_screen_and_a_damaged_chart(self):
        count = "const results = { live: document.querySelectorAll('.kymo-live').length };"
        self.assertEqual(self.exercise(count, width=400)["live"], 3)
        damaged = self.page.replace('<script type="application/zlib">', '<script type="application/zlib">AAAA', 1)
        results, complaints = self.exercise_page(damaged, count)
        self.assertEqual(results["live"], 2, "a chart that cannot be read stays a picture, the others are interactive")
        self.assertEqual(len(complaints), 1)


if __name__ == "__main__":
    unittest.main()
