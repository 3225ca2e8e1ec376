# SPDX-License-Identifier: Apache-2.0
"""An HTML report with interactive charts of very many rows, and scripts that use it in a browser as a user does."""

import base64
import hashlib
import json
import re
import shutil
import subprocess

from kymo_tool import HANG_S, SharedRunTest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

EVENTS = 200_000
BLOCKS = 100_000

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

# Two runs; the first has two ranks and two steps of 100 µs: operators that contain calls, which launch kernels 5 µs
# later, within a module on the host. The second run starts later and has one rank.
RUNS = """-- SPDX-License-Identifier: Apache-2.0
-- caption: Steps.
-- empty: None.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9),
recorder(run, run_id, rank, zero) AS (
  VALUES ('train', 7, 0, 1000000), ('train', 7, 1, 1000500), ('infer', 8, 0, 9000000)
),
step(step, start) AS (VALUES (3, 0), (4, 100000)),
call AS (
  SELECT r.*, s.step, n.i + 10 * s.step AS number, r.zero + s.start + n.i * 10000 AS at
  FROM recorder r, step s, n
)
SELECT run, run_id, 'trace' AS pass, rank, step, 'host' AS "group", 'thread 0' AS lane, zero + start AS start_ns,
       zero + start + 95000 AS end_ns, 'block' AS label, 'scope' AS class, 'block' AS scope, 'forward' AS phase,
       NULL AS event, NULL AS launched_by, NULL AS called_by, NULL AS detail
FROM recorder, step
UNION ALL
SELECT run, run_id, 'trace', rank, step, 'host', 'thread 0', at, at + 6000, 'aten::linear', 'operator', 'block',
       'forward', 'op outer ' || number, NULL, NULL, NULL
FROM call
UNION ALL
SELECT run, run_id, 'trace', rank, step, 'host', 'thread 0', at + 1000, at + 5000, 'aten::addmm', 'operator', 'block',
       'forward', 'op ' || number, NULL, NULL, NULL
FROM call
UNION ALL
SELECT run, run_id, 'trace', rank, step, 'host', 'API calls', at + 2000, at + 3000, 'cudaLaunchKernel', 'API call',
       NULL, NULL, 'call ' || number, NULL, NULL, NULL
FROM call
UNION ALL
SELECT run, run_id, 'trace', rank, step, 'GPU', 'stream 7', at + 7000, at + 12000, 'gemm', 'matmul', 'block',
       'forward', NULL, 'call ' || number, 'op ' || number, 'grid 8×1×1, block 256×1×1'
FROM call
ORDER BY run DESC, rank, start_ns, end_ns DESC
"""

COUNTERS = """
SELECT 'power' AS name, 'W' AS unit, 'train' AS run, 0 AS rank, 1000000 + column1 AS time_ns, column2 AS value
FROM (VALUES (0, 300), (50000, 420), (50100, 310), (150000, 350))
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
# They are in 101 segments of 30 slots.
ALLOCATIONS = f"""
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {BLOCKS - 1})
SELECT i * 1000 AS start_ns, CASE WHEN i < 1000 THEN NULL ELSE i * 1000 + 2000000 END AS end_ns,
       4096 * (1 + i % 16) AS bytes, 'tensor ' || (i % 100) AS label,
       CASE WHEN i < 1000 THEN 'weights' ELSE 'activations' END AS category, 'line ' || i AS detail,
       140000000000000 + (slot / 30 * 32 + slot % 30) * 65536 AS address
FROM (SELECT i, CASE WHEN i < 1000 THEN i ELSE 1000 + i % 2001 END AS slot FROM n)
"""

SEGMENTS = """-- SPDX-License-Identifier: Apache-2.0
-- empty: No segments.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
SELECT 0 AS start_ns, NULL AS end_ns, 140000000000000 + i * 32 * 65536 AS address, 30 * 65536 AS bytes, 0 AS stream
FROM n
"""

REPORT = """title = "Browser"
[[section]]
heading = "Charts"
[[section.chart]]
file = "timeline.sql"
kind = "timeline"
[[section.chart]]
file = "runs.sql"
kind = "timeline"
counters = "counters.sql"
[[section.chart]]
file = "memory.sql"
kind = "area"
x = "time_ns"
y_title = "memory"
bands = "bands.sql"
blocks = "blocks.sql"
segments = "segments.sql"
events = "events.sql"
"""

# Phases on the axis of the curves.
PHASES = """
SELECT 'host' AS "group", 'thread 0' AS lane, 0 AS start_ns, 20000000 AS end_ns, 'forward' AS label, 'phase' AS class
"""

# Common part of every exercise: input events as caused by a user.
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
const pointer = (view, kind, x, y, id = 1, more = {}) => {
  canvasOf(view).setPointerCapture = () => {};  // there is no real finger to capture
  canvasOf(view).dispatchEvent(new PointerEvent(kind, { pointerId: id, button: 0, ...at(view, x, y), ...more }));
};
const range = (view) => [view.range.low, view.range.high];
const panelText = (view) => (view.details.panel.isOpen ? view.details.panel.box.textContent : "");
"""


def write_charts(folder):
    """Writes a report with the charts: `kymo report FOLDER`."""
    folder.mkdir()
    for name, text in (
        ("report.toml", REPORT),
        ("timeline.sql", TIMELINE),
        ("runs.sql", RUNS),
        ("counters.sql", COUNTERS),
        ("events.sql", PHASES),
        ("memory.sql", MEMORY),
        ("bands.sql", BANDS),
        ("blocks.sql", ALLOCATIONS),
        ("segments.sql", SEGMENTS),
    ):
        (folder / name).write_text(text)


class ReportPageTest(SharedRunTest):
    words = ("saxpy", "--set", "n=1000", "--steps", "1", "--warmup", "0", "--no-verify")

    def setUp(self):
        super().setUp()
        if not (self.work / "charts").exists():
            write_charts(self.work / "charts")
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
            timeout=HANG_S,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done.stdout, [
            line for line in done.stderr.splitlines() if "CONSOLE" in line or "Content Security Policy" in line
        ]

    def exercise(self, script, width=1200):
        """Runs a script in the page once its charts are interactive; returns its `results`."""
        results, complaints = self.exercise_page(self.page, script, width)
        self.assertEqual(complaints, [])
        return results

    def exercise_page(self, page, script, width=1200):
        """Runs a script after the page's own script, allowed by its hash in the same way; returns its `results` and
        the errors reported by the browser."""
        script = f"""kymoReady.then(() => {{
{script}
const shown = Object.assign(document.createElement('pre'), {{ textContent: JSON.stringify(results) }});
document.body.replaceChildren(shown);
}});
"""
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        page = page.replace("script-src ", f"script-src 'sha256-{digest}' ", 1).replace(
            "</body>", f"<script>{script}</script></body>"
        )
        text, complaints = self.open(page, width)
        found = re.search(r"<pre>(\{.*\})</pre>", text, re.DOTALL)
        self.assertIsNotNone(found, (text[-2000:], complaints))
        return json.loads(found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")), complaints
