# SPDX-License-Identifier: Apache-2.0
"""Comparison of two sets of runs: by label, by invocation and by database."""

import json
import sqlite3
import unittest

from kymo_tool import SAXPY, KymoTest

RUN = ["run", "saxpy", "--set", "n=4096", "--warmup", "1", "--steps", "20", "--repeat", "5", "--no-verify"]
# Synthetic times, independent of the machine: the k-th run of a side takes base + k.
FIVE_STEPS = "UPDATE statistic SET median_ns = {base} + (SELECT count(*) FROM run r WHERE r.run_id < statistic.run_id)"


class CompareTest(KymoTest):
    def measure(self, label, *words):
        self.kymo(*RUN, "--label", label, *words)

    def change(self, sql, database="kymo.db"):
        connection = sqlite3.connect(self.work / database)
        try:
            connection.execute(sql)
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
        self.assertRegex(table.stdout, r"saxpy +100 µs +5 +200 µs +5 +2\.000 +\S+ to \S+ +0\.008 +SLOWER")
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

    def test_runs_of_one_process_are_no_independent_samples(self):
        self.measure("one process")
        self.measure("many", "--fresh")
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
