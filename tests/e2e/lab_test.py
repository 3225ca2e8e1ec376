# SPDX-License-Identifier: Apache-2.0
"""The suite and the report `lab` with a tiny model, text and number of steps, and a training that misses its target."""

import re
import unittest
from pathlib import Path

from kymo_tool import BUILD, KymoTest, needs_torch_parts

SUITE = BUILD / "share" / "kymo" / "reports" / "lab" / "suite.toml"
TINY = [  # changes to the profile `small`
    (r"d_model = 128, heads = 4, context = 256, batch = 4", "context = 16, batch = 2, text = 'sources'"),
    (r"target_loss = 2\.45", "target_loss = 20, validate_every = 2, validation_batches = 1"),
    (r"\nwarmup = 5\nsteps = \d+", "\nwarmup = 1\nsteps = 4"),
    (r"\nrepeat = 6", "\nrepeat = 2"),
    (r"\nfresh = true", ""),
    (r"\nwarmup = 2\nsteps = 20", "\nwarmup = 0\nsteps = 2"),
    # Every case runs, also on processors without instructions for bf16.
    (r"\nmax_time = 540", "\nmax_time = 100_000"),
    (r"\nmax_pass_time = 120", "\nmax_pass_time = 100_000"),
]
VARIANTS = ["baseline", "sdpa attention", "fused optimizer", "prefetch", "autocast bf16"]


def row_of(report, first_cell):
    """The cells of the first row of a Markdown report that begins with a cell."""
    (line, *_) = [line for line in report.splitlines() if line.startswith(f"| {first_cell} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


@needs_torch_parts
class LabTest(KymoTest):
    def setUp(self):
        super().setUp()
        sources = self.work / "sources"
        sources.mkdir()
        (sources / "a.py").write_text("".join(f"def f{i % 7}(x):\n    return x\n" for i in range(200)), "utf-8")

    def test_trains_every_variant_and_reports_them(self):
        text = SUITE.read_text(encoding="utf-8")
        for pattern, tiny in TINY:
            text, count = re.subn(pattern, tiny, text)
            self.assertGreater(count, 0, f"the suite has no {pattern}")
        (self.work / "lab.toml").write_text(text, encoding="utf-8")
        database = ["--db", "skipped.db"]
        self.kymo("suite", "run", "./lab.toml", "--profile", "small", "--filter", "^graph", *database)
        self.kymo("report", "lab", "--out", "skipped", "--format", "markdown", *database)
        report = (self.work / "skipped" / "report.md").read_text(encoding="utf-8")
        self.assertIn("No runs: `kymo suite run lab`", report)
        self.assertIn("| graph | skipped | execution=graph requires device=cuda |", report)
        self.assertNotIn("The losses", report)

        self.kymo("suite", "run", "./lab.toml", "--profile", "small")
        counts = dict(self.rows("SELECT status, count(*) FROM run GROUP BY status"))
        self.assertEqual(counts, {"ok": 5 * 2 + 2 * 2 + 2 + 5, "skipped": 3})
        skipped = dict(self.rows("SELECT suite_case, detail FROM run WHERE status = 'skipped'"))
        self.assertEqual(set(skipped), {"graph", "flash", "observed-graph"})
        seeds = self.rows("SELECT DISTINCT seed FROM run WHERE suite_case IN ('baseline', 'seeds-baseline') ORDER BY 1")
        self.assertEqual(seeds, [(0,), (1,), (2,)])
        work = self.sql("SELECT DISTINCT value FROM reported_metric WHERE name = 'text_files'")
        self.assertEqual(work, [{"value": 1.0}])

        self.kymo("report", "lab", "--out", "report")
        report = (self.work / "report" / "report.md").read_text(encoding="utf-8")
        verdicts = report[report.index("Why the five operators") :]
        self.assertRegex(verdicts, r"\| baseline \| `aten::\w+` \| .*\| (wrong precision|[a-z]+-bound|cannot be) ?")
        utilization = report[report.index("Utilization of the device") :]
        self.assertRegex(utilization, r"\| baseline \| `step` \| [\d., ]+\|")
        for variant in VARIANTS:
            cells = row_of(report, variant)
            self.assertGreater(float(cells[1]), 0, cells)
            self.assertRegex(cells[2], r"^\d+\.\d\d – \d+\.\d\d$")
            if variant != "baseline":
                self.assertGreater(float(cells[3]), 0, cells)
                self.assertGreater(float(cells[5]), 0, cells)
        self.assertRegex(
            report, r"\(sdpa attention, .*autocast bf16\), the median step takes [\d.]+ ms, and that of the"
        )
        self.assertRegex(report, r"The losses (do not )?agree: at the same seed")
        self.assertRegex(report, r"variant \| seed 0 \| seed 1 \| seed 2 \| mean")
        first, last = (report.index(each) for each in ("The five operators with", "Utilization of the device"))
        top = report[first:last]
        operators = [line for line in top.splitlines() if re.match(r"\| (baseline|optimised) \| `", line)]
        self.assertEqual(len(operators), 2 * 5, operators)
        self.assertNotIn("No runs", report)
        pictures = {path.stem: path.read_text("utf-8") for path in (self.work / "report").rglob("roofline-*.svg")}
        self.assertEqual(set(pictures), {"roofline-baseline", "roofline-optimised"})
        for variant, roof in (("baseline", "fp32"), ("optimised", "bf16")):
            picture = pictures[f"roofline-{variant}"]
            # Roofs of nearly the same height share a label.
            rate = r"[\d.]+ [MGT]FLOP/s"
            self.assertRegex(picture, rf">(\w+ {rate}, )*{roof} {rate}(, \w+ {rate})*</text>")
            self.assertRegex(picture, r">memory [\d.]+ [MGT]B/s</text>")
            self.assertGreater(len(re.findall(r"<circle [^>]*><title>", picture)), 20)
        page = (self.work / "report" / "report.html").read_text(encoding="utf-8")
        self.assertGreaterEqual(page.count("<svg"), 2)
        self.assertEqual(len(list(Path(self.work / "report").rglob("loss-curves*.svg"))), 1)

    def test_a_missed_target_fails_the_run(self):
        settings = ["--set", "text=sources", "--set", "context=16", "--set", "batch=2", "--set", "target_loss=0.001"]
        self.kymo("run", "train_text", *settings, "--warmup", "1", "--steps", "3", "--no-verify", code=3)
        ((status, detail),) = self.rows("SELECT status, detail FROM run")
        self.assertEqual(status, "failed")
        self.assertRegex(
            detail,
            r"^the training missed its target: after 4 steps, the loss on held-out text is \d\.\d{4} nat; target_loss "
            r"is 0\.0010 nat$",
        )


if __name__ == "__main__":
    unittest.main()
