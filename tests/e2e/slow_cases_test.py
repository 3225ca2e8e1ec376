# SPDX-License-Identifier: Apache-2.0
"""Cases that are far slower than planned are skipped with the time of a step, by one or two ranks, in C++ and in
Python, and suites end within the time that they state. A sleep takes the same time on every machine."""

import re
import unittest

from kymo_tool import BUILD, KymoTest

PROBE = BUILD / "tests" / "plugins" / "probe.so"
SLOW = """
import time
import kymo

class Slow(kymo.Workload):
    seconds = kymo.Real(0.3)
    ranks = (1, 2)
    def step(self, run):
        time.sleep(self.seconds)
"""
SUITE = """
title = "Slow"
max_time = {max_time}
[profile.other]
max_time = 90
[defaults]
warmup = 1
passes = ["time"]
max_pass_time = {max_pass_time}
[[case]]
name = "slow"
workload = "slow"
steps = 100
repeat = 2
[[case]]
name = "quick"
workload = "slow"
steps = 2
max_pass_time = 3600
set = {{ seconds = {quick} }}
"""
TOO_SLOW = (
    r"^too slow: a step takes ([3-9]\d\d ms|\d\.\d+ s), so that 101 steps would take [3-9]\d s; "
    r"a pass may take 10 s \(--max-pass-time\)$"
)


class SlowCasesTest(KymoTest):
    def setUp(self):
        super().setUp()
        self.file = self.work / "slow.py"
        self.file.write_text(SLOW, encoding="utf-8")

    def run_suite(self, *options, max_time=600, max_pass_time=10, quick=0.001):
        suite = self.work / "slow.toml"
        suite.write_text(SUITE.format(max_time=max_time, max_pass_time=max_pass_time, quick=quick), encoding="utf-8")
        return self.kymo("suite", "run", "./slow.toml", "--plugin", self.file, *options)

    def cases(self):
        return self.rows("SELECT suite_case, status, detail FROM run ORDER BY run_id")

    def test_a_slow_step_skips_the_run_of_any_number_of_ranks(self):
        limit = ("--warmup", "1", "--steps", "100", "--max-pass-time", "10", "--no-verify")
        self.kymo("run", self.file, "--axis", "ranks=1,2", *limit)
        runs = self.rows("SELECT ranks, status, detail FROM run ORDER BY run_id")
        self.assertEqual([run[:2] for run in runs], [(1, "skipped"), (2, "skipped")])
        for _, _, detail in runs:
            self.assertRegex(detail, TOO_SLOW)
        steps = self.rows("SELECT run_id, count(DISTINCT step) FROM sample WHERE rank = 0 GROUP BY run_id")
        self.assertEqual([run for run, _ in steps], [1, 2])
        for _, count in steps:
            self.assertLessEqual(count, 5, "it was given up after the first steps")
        self.assertIn("\nskipped: too slow: a step takes", self.kymo("show", "1").stdout)

    def test_a_first_step_that_does_not_end_skips_the_run(self):
        limit = ("--warmup", "0", "--steps", "2", "--max-pass-time", "1", "--no-verify")
        self.kymo("run", self.file, "--set", "seconds=3600", *limit)
        ((status, detail),) = self.rows("SELECT status, detail FROM run")
        self.assertEqual(status, "skipped")
        self.assertRegex(detail, r"^too slow: no progress for 1 s: rank 0, pass time, .*step 0.*--max-pass-time")

    def test_a_run_that_fits_has_exactly_its_steps(self):
        self.kymo("run", PROBE, "--warmup", "2", "--steps", "4", "--max-pass-time", "3600", "--no-verify")
        self.assertEqual(self.rows("SELECT status FROM run"), [("ok",)])
        steps = self.rows("SELECT DISTINCT step, warmup FROM sample ORDER BY step")
        self.assertEqual(steps, [(0, 1), (1, 1), (2, 0), (3, 0), (4, 0), (5, 0)])

    def test_a_suite_skips_slow_cases_and_runs_them_under_a_higher_limit(self):
        done = self.run_suite()
        self.assertIn("suite slow takes at most about 10 min", done.stderr)
        self.assertRegex(done.stdout, "runs 1, 3 skipped: too slow: a step takes")
        slow, quick, repeated = self.cases()
        self.assertEqual(quick, ("quick", "ok", ""))
        self.assertRegex(slow[2], TOO_SLOW)
        self.assertEqual(repeated, slow, "the repetition was not tried again")
        self.run_suite("--resume", "--steps", "3", max_pass_time=3600)
        self.assertEqual([case[:2] for case in self.cases()[3:]], [("slow", "ok"), ("quick", "ok"), ("slow", "ok")])
        self.kymo("report", "quick", "--suite", "slow", "--format", "markdown", "--out", "report")
        report = (self.work / "report" / "report.md").read_text(encoding="utf-8")
        self.assertIn("too slow: a step takes", report)

    def test_a_suite_ends_within_its_time(self):
        self.run_suite("--filter", "quick", "--repeat", "2", max_time=5, quick=3600)
        limit = "all runs together may take 5 s (--max-time)"
        stopped, left = self.cases()
        self.assertEqual(left, ("quick", "skipped", f"no time left: {limit}"))
        self.assertRegex(stopped[2], rf"^no time left: the run was stopped: rank 0, pass time, .*; {re.escape(limit)}$")
        self.run_suite("--resume", "--max-time", "3600", "--filter", "^quick")
        self.assertEqual(self.cases()[2:], [("quick", "ok", "")])
        self.run_suite("--resume", "--filter", "^quick")
        self.assertEqual(len(self.cases()), 3, "what is ok is not repeated")

    def test_the_list_of_suites_states_their_times(self):
        suites = {suite["name"]: suite for suite in self.kymo_json("suite", "list")}
        self.assertEqual(suites["lab"]["max_time_of_profiles_s"], {"small": 540})
        self.assertEqual(suites["quick"]["max_time_s"], 600)
        self.assertIsNone(suites["cs336"]["max_time_s"])
        self.assertRegex(self.kymo("suite", "list").stdout, r"\blab\b.* small: 9 min ")


if __name__ == "__main__":
    unittest.main()
