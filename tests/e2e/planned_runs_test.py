# SPDX-License-Identifier: Apache-2.0
"""Runs that a suite planned and did not start, because it was killed, interrupted or out of time."""

import shutil
import signal
import sqlite3
import unittest

from fault_tool import BAD, FaultTest, wait_until
from kymo_tool import HANG_S

SUITE = """
title = "Planned"
[defaults]
warmup = 0
steps = 2
passes = ["time"]
[[case]]
name = "first"
workload = "probe"
[[case]]
name = "long"
workload = "probe"
set = { sleep = 60000000 }
[[case]]
name = "last"
workload = "probe"
axes = { sleep = [10, 20], mode = ["fast", "slow"] }
"""
SUITE_RUN = ("suite", "run", "./planned.toml", "--plugin", BAD / "probe.so")


class PlannedRunsTest(FaultTest):
    def setUp(self):
        super().setUp()
        (self.work / "planned.toml").write_text(SUITE, encoding="utf-8")

    def stop(self, number, *words):
        """Starts the suite and sends it a signal during its second run."""
        process = self.start(*SUITE_RUN, *words)
        self.assertTrue(wait_until(lambda: self.database.exists() and self.has_begun()), "the run did not begin")
        process.send_signal(number)
        process.communicate(timeout=HANG_S)
        self.assertTrue(wait_until(lambda: not self.left_running()))

    def has_begun(self):
        try:
            return self.rows("SELECT 1 FROM run WHERE suite_case = 'long' AND status = 'running'")
        except sqlite3.OperationalError:  # the database is being created
            return False

    def unstarted(self, database="kymo.db"):
        return self.sql(
            "SELECT suite_case, title_in_case, reason FROM unstarted_run ORDER BY invocation_id, sequence", database
        )

    def report(self, *words):
        self.kymo("report", "quick", "--format", "markdown", "--out", "report", *words)
        return (self.work / "report" / "report.md").read_text(encoding="utf-8")

    def test_a_killed_suite(self):
        self.stop(signal.SIGKILL)
        reason = "the command was killed, or has not come to it yet"
        cases = [f"mode={mode}, sleep={sleep}" for mode in ("fast", "slow") for sleep in (10, 20)]
        self.assertEqual(
            self.unstarted(), [{"suite_case": "last", "title_in_case": case, "reason": reason} for case in cases]
        )
        line = f"invocation 1: 4 planned runs were not started: {reason}; the same command with --resume starts them\n"
        self.assertIn(line, self.kymo("runs").stdout)
        self.assertIn(line, self.kymo("show", "1").stdout)
        self.assertNotIn("not started", self.kymo("runs", "--workload", "saxpy").stdout)
        self.assertNotIn("not started", self.kymo("runs", "--status", "ok").stdout)
        report = self.report()
        self.assertIn("Planned runs that were not started: 4.", report)
        self.assertIn(f"| `probe` | 4 runs: {cases[0]} … | not started | – | {reason} |", report)
        # A merge keeps them, and a second one adds nothing.
        for _ in range(2):
            self.kymo("merge", "all.db", "kymo.db")
            self.assertEqual(self.unstarted("all.db"), self.unstarted())
        self.kymo(*SUITE_RUN, "--resume", "--filter", "^last.*mode=fast")
        self.assertEqual([row["title_in_case"] for row in self.unstarted()], cases[2:])
        self.kymo("merge", "all.db", "kymo.db")
        self.assertEqual(self.unstarted("all.db"), self.unstarted())
        self.kymo(*SUITE_RUN, "--resume", "--filter", "^last")
        self.assertEqual(self.unstarted(), [])
        self.assertNotIn("not started", self.kymo("runs").stdout)
        self.assertNotIn("not started", self.report())

    def test_a_suite_killed_between_two_runs(self):
        """As it is after the end of the second run and before the begin of the third."""
        self.stop(signal.SIGKILL)
        self.kymo("runs")  # closes the run that was running
        shutil.copy(self.database, self.work / "between.db")
        connection = sqlite3.connect(self.work / "between.db", isolation_level=None)
        connection.execute("UPDATE run SET status = 'ok', detail = '' WHERE suite_case = 'long'")
        connection.close()
        self.assertEqual(len(self.unstarted("between.db")), 4)

    def test_an_interrupted_suite(self):
        self.stop(signal.SIGINT)
        self.assertEqual({row["reason"] for row in self.unstarted()}, {"the command was interrupted by SIGINT"})
        self.assertEqual(len(self.unstarted()), 4)

    def test_a_suite_that_is_running(self):
        process = self.start(*SUITE_RUN)
        self.assertTrue(wait_until(lambda: self.database.exists() and self.has_begun()))
        self.assertIn("not started: the command is still running\n", self.kymo("runs").stdout)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=HANG_S)

    def test_a_suite_out_of_time_has_a_row_for_each_run(self):
        self.kymo(*SUITE_RUN, "--max-time", "1")
        statuses = self.rows("SELECT suite_case, status FROM run ORDER BY run_id")
        self.assertEqual(statuses[1:], [("long", "skipped"), *[("last", "skipped")] * 4])
        self.assertEqual(self.unstarted(), [])
        self.assertEqual(self.rows("SELECT count(*) FROM planned_run"), [(6,)])


if __name__ == "__main__":
    unittest.main()
