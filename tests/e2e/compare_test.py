# SPDX-License-Identifier: Apache-2.0
"""Comparison of two sets of runs: by label, by invocation and by database."""

import json
import sqlite3
import unittest

from kymo_tool import SAXPY, KymoTest, needs_torch_parts

RUN = ["run", "saxpy", "--set", "n=4096", "--warmup", "1", "--steps", "20", "--repeat", "5", "--no-verify"]
# Synthetic times, independent of the machine: the k-th run of a side takes base + k, in the mean as in the median.
TIMES = "UPDATE statistic SET (median_ns, mean_ns, represented_by) = (SELECT t, t, 'median' FROM (SELECT {time} AS t))"
FIVE_STEPS = TIMES.format(time="{base} + (SELECT count(*) FROM run r WHERE r.run_id < statistic.run_id)")


class CompareTest(KymoTest):
    def measure(self, label, *words):
        self.kymo(*RUN, "--label", label, *words)

    def change(self, sql, database="kymo.db"):
        connection = sqlite3.connect(self.work / database)
        try:
            connection.execute(sql)
            connection.execute("DELETE FROM reference_loop")  # a busy machine would be noted
            connection.commit()
        finally:
            connection.close()

    def copy(self, name, base):
        """Copies the database with different times."""
        (self.work / name).write_bytes((self.work / "kymo.db").read_bytes())
        self.change(FIVE_STEPS.format(base=base), name)

    def comparisons(self, *words, code=0):
        return json.loads(self.kymo("compare", *words, "--json", code=code).stdout)["cases"]

    def test_two_databases(self):
        self.measure("one", "--fresh")
        self.copy("fast.db", 100000)
        self.copy("slow.db", 200000)
        (case,) = self.comparisons("fast.db", "slow.db")
        self.assertEqual(
            (case["verdict"], case["before"]["runs"], case["after"]["runs"], case["notes"]), ("SLOWER", 5, 5, [])
        )
        self.assertAlmostEqual(case["ratio"], 2, places=3)
        self.assertTrue(1.99 < case["ratio_low"] <= case["ratio"] <= case["ratio_high"] < 2.01, case)
        self.assertAlmostEqual(case["probability"], 2 / 252)
        self.assertEqual(self.comparisons("slow.db", "fast.db")[0]["verdict"], "FASTER")
        self.copy("again.db", 100001)
        self.assertEqual(self.comparisons("fast.db", "again.db")[0]["verdict"], "SAME")

        table = self.kymo("compare", "fast.db", "slow.db", "--fail-on-slower", code=3)
        self.assertRegex(
            table.stdout, r"saxpy +100 µs +5 +200 µs +5 +2\.00 times as long +\S+ to \S+ times +0\.008 +SLOWER"
        )
        self.kymo("compare", "slow.db", "fast.db", "--fail-on-slower")
        self.copy("somewhat slower.db", 103000)
        self.kymo("compare", "fast.db", "somewhat slower.db", "--fail-on-slower", code=3)
        self.kymo("compare", "fast.db", "somewhat slower.db", "--fail-on-slower", "--margin", "5%")

    def test_labels_and_invocations(self):
        self.measure("before", "--fresh")
        self.measure("after", "--fresh")
        by_label = self.comparisons("before", "after")
        self.assertEqual((by_label[0]["before"]["runs"], by_label[0]["after"]["runs"]), (5, 5))
        self.assertEqual(self.comparisons("1", "2"), by_label)
        self.assertEqual(self.comparisons("before", "2", "--db", "kymo.db"), by_label)
        self.assertEqual(self.comparisons("before", "after", "--phase", "compute")[0]["phase"], "compute")

    def report(self, *words, code=0):
        done = self.kymo("report", "compare", *words, "--format", "markdown", code=code)
        return done.stderr if code else (self.work / "report" / "report.md").read_text(encoding="utf-8")

    def test_report_of_a_slower_side(self):
        self.measure("old", "--fresh")
        self.measure("new", "--fresh")
        self.change(TIMES.format(time="100000 + run_id * 10 + (run_id > 5) * 50000"))
        text = self.report("old", "new")
        self.assertIn("old against new: 1 case. **Slower: saxpy (1.50 times as long).**", text)
        self.assertRegex(
            text,
            r"\| saxpy \| median step \| 0\.1000 \| 0\.1501 \| 1\.50 times as long \| 1\.\d+ to 1\.\d+ times "
            r"\| SLOWER \| 5 \+ 5 \|",
        )
        self.assertRegex(text, r"`compute` \| 0\.1000 \| 0\.1501 \| 0\.0501 \|")
        self.assertIn("No case has records on both sides", text)
        self.assertIn("Faster: saxpy (1.50 times as fast)", self.report("2", "1"))
        self.assertIn("Mean and median agree in all cases.", text)

    def test_report_of_steps_that_are_not_alike(self):
        """Ten steps of 0.1 ms before; nine of 0.02 ms and one of 0.8 ms after, as a program would have them."""
        self.measure("old", "--fresh")
        self.measure("new", "--fresh")
        self.change(
            "UPDATE statistic SET represented_by = 'mean', count = 10, mean_ns = (CASE WHEN run_id > 5 THEN 98000 ELSE "
            "100000 END) + run_id % 5 * 10, median_ns = CASE WHEN run_id > 5 THEN 20000 ELSE 100000 END + run_id % 5, "
            "slow_count = run_id > 5, slow_ns = (run_id > 5) * 800000.0, fast_count = 0, fast_ns = 0"
        )
        text = self.report("old", "new")
        self.assertIn("Faster: saxpy (2.0 % faster)", text)
        row = r"\| saxpy \| mean step \| 0\.1000 \| 0\.09802 \| 2\.0 % faster \| [\d.]+ to [\d.]+ % \| FASTER "
        self.assertRegex(text, row + r"\| 5 \+ 5 \| median step \| 0\.1000 \| 0\.02000 \|")
        self.assertIn("| new | 10 % of the steps take more than 1.5 times the median; they are 81.6 % of", text)
        (case,) = self.comparisons("old", "new")
        self.assertEqual((case["statistic"], case["by_other"]["verdict"]), ("mean", "FASTER"))
        self.assertAlmostEqual(case["by_other"]["ratio"], 0.2, places=3)
        self.assertIn("after: 10 % of the steps take more than 1.5 times the median; they are 81.6 %", case["notes"][0])
        done = self.kymo("compare", "old", "new")
        self.assertIn("mean before", done.stdout)
        self.assertIn("the medians say something else: after is ", done.stderr)

    def test_sides_that_no_report_can_compare(self):
        self.measure("old")
        self.kymo("run", "saxpy", "--set", "n=64", "--no-verify", "--steps", "3", "--label", "other")
        for words, hint in (
            (("old",), "pass two labels or invocations, as in 'kymo report compare before after'"),
            (("old", "olf"), "no run of 'kymo.db' has the label 'olf'; did you mean 'old'?"),
            (("old", "a.db"), "combine both databases with 'kymo merge' first"),
            (("old", "old"), "both sides are 'old'"),
            (("old", "other"), "no case has runs on both sides"),
            (("old", "other", "--label", "old"), "not from --label"),
        ):
            self.assertIn(hint, self.report(*words, code=2))
        done = self.kymo("report", "quick", "old", "other", code=2)
        self.assertIn("the report 'quick' shows one set of runs", done.stderr)
        self.assertFalse((self.work / "report").exists())

    @needs_torch_parts
    def test_report_of_observed_runs(self):
        model = ["transformer_lm", "--set", "size=tiny", "--set", "context=16", "--device", "cpu", "--steps", "2"]
        for label in ("old", "new"):
            self.kymo("run", *model, "--passes", "time,ops,memory", "--label", label)
        text = self.report("old", "new")
        self.assertRegex(text, r"\| transformer_lm \| .* \| AMBIGUOUS .*\| 1 \+ 1 \|")
        for phase in ("forward", "backward", "optimizer"):
            self.assertRegex(text, rf"\| `{phase}` \| [\d.]+ \| [\d.]+ \| -?[\d.e-]+ \|")
        self.assertRegex(text, r"\| `aten::\w+` \| (longer|shorter) \|")
        self.assertRegex(text, r"\| `run` \| [\d.]+\sMiB \| [\d.]+\sMiB \| 0\sB \|")
        self.assertIn("figures/timeline.svg", text)
        picture = (self.work / "report" / "figures" / "timeline.svg").read_text(encoding="utf-8")
        for side in ("transformer_lm, old: a step of", "transformer_lm, new: a step of"):
            self.assertIn(side, picture)

    def test_runs_of_one_process_are_no_independent_samples(self):
        self.measure("one process")
        self.measure("many", "--fresh")
        self.change(TIMES.format(time="100000 + run_id * 10"))  # without slow steps, which would be noted, too
        done = self.kymo("compare", "one process", "many")
        self.assertIn("before: 5 runs shared a process", done.stderr)
        self.assertNotIn("after:", done.stderr)

    def test_an_older_build_of_the_plugin_does_not_count(self):
        copy = self.work / "saxpy.so"
        copy.write_bytes(SAXPY.read_bytes())
        plugin = ["run", "./saxpy.so:saxpy", "--trust", *RUN[2:], "--fresh"]
        self.kymo(*plugin, "--label", "mine")
        with copy.open("ab") as file:
            file.write(b"another build")
        self.kymo(*plugin, "--label", "mine")
        self.measure("other", "--fresh")
        self.change(TIMES.format(time="100000 + run_id * 10"))  # without slow steps, which would be noted, too
        (case,) = self.comparisons("mine", "other")
        self.assertEqual(
            (case["before"]["runs"], case["notes"]), (5, ["before: 5 runs of an older build of the plugin excluded"])
        )

    def test_what_cannot_be_compared_is_said(self):
        self.measure("before\x1b[2J", "--fresh")
        for words, hint in (
            (("before", "kymo.db"), "has the label 'before'"),
            (("kymo.db", "kymo.db"), "both sides are 'kymo.db'"),
            (("kymo.db", "absent.db"), "no such database: 'absent.db'"),
            (("kymo.db", "2"), "or is of that invocation"),
            (("kymo.db", "1", "--phase", "stop"), "no run has a phase 'stop'; did you mean 'step'?"),
            (("kymo.db", "1", "--margin", "x"), "--margin"),
            (("kymo.db",), "after"),
        ):
            done = self.kymo("compare", *words, code=2)
            self.assertIn(hint, done.stderr)
            self.assertNotIn("\x1b", done.stderr)
        (self.work / "text.db").write_text("no database")
        self.assertIn("text.db", self.kymo("compare", "kymo.db", "text.db", code=1).stderr)
        self.change("UPDATE run SET status = 'crashed', detail = 'signal 11'")
        self.assertIn("5 runs excluded (status: crashed)", self.kymo("compare", "kymo.db", "1").stderr)


if __name__ == "__main__":
    unittest.main()
