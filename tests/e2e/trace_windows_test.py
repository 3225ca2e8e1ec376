# SPDX-License-Identifier: Apache-2.0
"""Several windows of a program that `kymo trace` observes: a list, a period, and those that `kymo observe` requests."""

import os
import signal
import subprocess
import unittest

from fault_tool import wait_until
from kymo_tool import HANG_S, KYMO, SharedRunTest, needs_torch_parts
from trace_program_test import ENDS, PROGRAMS, PYTHON, TraceTest

NUMBERED = PROGRAMS / "numbered.py"
# How often each measured step called relu.
RELUS = """SELECT count(*) FROM op JOIN string n ON n.string_id = name_id JOIN sample s USING (run_id, rank, pass, step)
           WHERE n.text = 'aten::relu' AND s.phase = 'step' AND s.warmup = 0 AND run_id = ? AND rank = ?
           GROUP BY step ORDER BY step"""
FIRST_STEPS = """SELECT run_id, group_concat(DISTINCT value), count(*) FROM metric WHERE name = 'first_step'
                 GROUP BY run_id"""
WINDOWS = """SELECT p.value, r.status, r.detail FROM run r JOIN param p ON p.run_id = r.run_id AND p.name = 'steps'
             ORDER BY r.run_id"""


class WindowsTest(TraceTest):
    def relus(self, run, rank=0):
        return [count for (count,) in self.rows(RELUS, run, rank)]


@needs_torch_parts
class ListTest(SharedRunTest, WindowsTest):
    kinds = ("plain", "evaluated", "scaled", "critic", "seldom", "nested", "closure", "loaded")

    def run_once(self):
        self.trace_each(NUMBERED, self.kinds, 40, options=["--passes", "ops", "--steps", "10:13,20:22,22:24,30:32"])

    def test_each_window_is_a_run(self):
        self.assertEqual(self.rows(WINDOWS), [(steps, "ok", "") for steps in ("10:13", "20:22", "22:24", "30:32")])
        self.assertEqual(self.rows("SELECT warmup, steps FROM run"), [(3, 3), (3, 2), (0, 2), (3, 2)])

    def test_the_observed_steps(self):
        for rank, kind in enumerate(self.kinds):
            with self.subTest(kind):
                found = [self.relus(run, rank) for run in (1, 2, 3, 4)]
                self.assertEqual(found, [[10, 11, 12], [20, 21], [22, 23], [30, 31]])

    def test_a_module_has_the_same_name_in_each_window(self):
        names = self.rows(
            "SELECT DISTINCT p.text FROM op o JOIN string p ON p.string_id = o.scope_id WHERE p.text LIKE '%linear%'"
        )
        self.assertEqual(names, [("Model/linear",)])


@needs_torch_parts
class EndsTest(WindowsTest):
    def test_a_period_lasts_until_the_program_ends(self):
        expected = self.plain(NUMBERED, "plain", 28)
        done = self.trace(NUMBERED, "plain", 28, options=["--passes", "ops", "--steps", "every 8 for 2"])
        self.assertEqual(done.stdout, expected)
        self.assertEqual([steps for steps, _, _ in self.rows(WINDOWS)], ["8:10", "16:18", "24:26"])
        self.assertEqual([self.relus(run) for run in (1, 2, 3)], [[8, 9], [16, 17], [24, 25]])

    def test_the_program_ends_in_the_warmup_of_a_window(self):
        expected = self.plain(NUMBERED, "plain", 23)
        done = self.trace(NUMBERED, "plain", 23, options=["--passes", "ops", "--steps", "every 8 for 2"])
        self.assertEqual(done.stdout, expected)
        self.assertEqual(
            self.rows(WINDOWS),
            [("8:10", "ok", ""), ("16:18", "ok", ""), ("24:26", "skipped", "the program ended before the window")],
        )

    def test_the_program_ends_before_a_window(self):
        done = self.trace(NUMBERED, "plain", 12, options=["--passes", "ops", "--steps", "5:7,100:103,200:203"])
        self.assertEqual(self.rows(WINDOWS), [("5:7", "ok", "")])
        self.assertIn("the program ended before the windows 100:103, 200:203", done.stderr)

    def test_the_program_ends_within_a_window(self):
        self.trace(NUMBERED, "plain", 22, options=["--passes", "ops", "--steps", "5:7,20:30,40:50"])
        self.assertEqual([row[:2] for row in self.rows(WINDOWS)], [("5:7", "ok"), ("20:30", "ok")])
        self.assertEqual(self.relus(2), [20])
        self.assertEqual(self.rows("SELECT run_id FROM run_warning WHERE kind = 'fewer steps'"), [(2,)])

    def test_the_exit_code_is_that_of_the_program(self):
        for steps, statuses in (("1:3,4:5,100:105", ["ok", "ok"]), ("1:3,4:20", ["ok", "failed"])):
            with self.subTest(steps):
                (self.work / "kymo.db").unlink(missing_ok=True)
                self.trace(ENDS, "raise", options=["--passes", "ops", "--steps", steps], code=1)
                self.assertEqual([status for _, status, _ in self.rows(WINDOWS)], statuses)

    def test_rejected(self):
        for options, message in (
            (["--steps", "10:20,15:30"], "the window that begins with step 15 begins before the end"),
            (["--steps", "5:,20:30"], "only the last window may have no end"),
            (["--steps", "every 5 for 9"], "from 1 to 5"),
            (["--steps", "every 5"], "'every N for M'"),
            (["--steps", "1:2,3:4", "--passes", "time,ops"], "a single pass"),
            (["--steps", "1:2,3:4", "--passes", "memory"], "the memory pass"),
            (["--wait", "--passes", "memory"], "the memory pass"),
            (["--wait", "--stop"], "no last window"),
            (["--wait", "--steps", "1:2"], "--steps excludes --wait"),
        ):
            with self.subTest(options):
                self.assertIn(message, self.kymo("trace", *options, "--", PYTHON, NUMBERED, code=2).stderr)


@needs_torch_parts
class RequestTest(WindowsTest):
    def start(self, ranks):
        launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
        self.stop = self.work / "stop"
        program = [PYTHON, *launcher, str(PROGRAMS / "until_stopped.py"), str(self.stop)]
        self.traced = self.begin("trace", "--wait", "--passes", "ops", "--", *program)
        self.addCleanup(self.end)
        self.assertIn(f"kymo observe {self.traced.pid}", self.traced.stderr.readline())

    def begin(self, *words):
        return subprocess.Popen(
            [str(KYMO), *map(str, words)],
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def end(self):
        if self.traced.poll() is None:
            os.killpg(self.traced.pid, signal.SIGKILL)
            self.traced.communicate()

    def observe(self, *words, code=0):
        return self.kymo("observe", self.traced.pid, *words, code=code)

    def stopped(self, code=0):
        self.stop.touch()
        output, errors = self.traced.communicate(timeout=HANG_S)
        self.assertEqual(self.traced.returncode, code, errors)
        return output, errors

    def test_ranks_begin_at_the_same_step(self):
        self.start(2)
        for steps in (3, 5, 4):
            self.assertIn("run ok", self.observe("--steps", steps).stdout)
        output, _ = self.stopped()
        self.assertEqual(output, "stopped\n" * 2)
        first = self.rows(FIRST_STEPS)
        self.assertEqual([(run, ranks) for run, _, ranks in first], [(1, 2), (2, 2), (3, 2)])
        for (run, begin, _), steps in zip(first, (3, 5, 4), strict=True):
            measured = [(int(float(begin)) + 3 + step) % 10 for step in range(steps)]
            for rank in (0, 1):
                self.assertEqual(self.relus(run, rank), [count for count in measured if count > 0])
        self.assertEqual([status for _, status, _ in self.rows(WINDOWS)], ["ok"] * 3)

    def test_one_at_a_time_and_none_afterwards(self):
        self.start(1)
        with self.begin("observe", self.traced.pid, "--steps", 100_000_000) as first:
            self.assertTrue(wait_until(lambda: (self.work / "kymo.db").exists() and self.rows("SELECT 1 FROM run")))
            self.assertIn("is requested already", self.observe(code=1).stderr)
            self.stopped()
            output, errors = first.communicate(timeout=HANG_S)
            self.assertEqual(first.returncode, 0, errors)  # it ended within the window, whose steps are kept
        self.assertIn("run 1", output)
        self.assertIn("belongs to no program", self.observe(code=2).stderr)

    def test_no_request(self):
        self.start(1)
        _, errors = self.stopped()
        self.assertIn("no window was requested", errors)
        self.assertEqual(self.rows("SELECT count(*) FROM run"), [(0,)])

    def test_kymo_is_killed(self):
        self.start(1)
        os.kill(self.traced.pid, signal.SIGKILL)
        self.traced.communicate()
        self.assertIn("belongs to no program", self.observe(code=2).stderr)


if __name__ == "__main__":
    unittest.main()
