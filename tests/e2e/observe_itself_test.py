# SPDX-License-Identifier: Apache-2.0
"""kymo.observe: a program that observes a part of itself."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

from kymo_tool import BUILD, HANG_S, KYMO, needs_torch_parts
from trace_program_test import PROGRAMS, TraceTest

PROGRAM = PROGRAMS / "observes_itself.py"
STEPS = """SELECT run_id, pass, phase, count(*) FROM sample WHERE warmup = 0 AND phase <> 'other'
           GROUP BY run_id, pass, phase ORDER BY run_id, phase"""


def steps(run, of_pass, count):
    return [(run, of_pass, phase, count) for phase in ("backward", "forward", "optimizer", "step")]


@needs_torch_parts
class ObserveItselfTest(TraceTest):
    def setUp(self):
        super().setUp()
        self.environment |= {"PYTHONPATH": str(BUILD / "lib" / "kymo" / "python"), "KYMO_PROGRAM": str(KYMO)}

    def observe(self, mode):
        done = subprocess.run(
            [sys.executable, PROGRAM, mode],
            cwd=self.work,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=HANG_S,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def losses(self, text):
        return [line for line in text.splitlines() if line.startswith("0x")]

    def test_steps_are_counted_from_the_begin_of_the_block(self):
        for mode in ("once", "scheduler"):
            with self.subTest(mode):
                Path(self.work, "kymo.db").unlink(missing_ok=True)
                done = self.observe(mode)
                self.assertEqual(self.rows(STEPS), steps(1, "ops", 4))
                self.assertEqual(self.rows("SELECT workload, label, status FROM run"), [(PROGRAM.name, "mine", "ok")])
                self.assertEqual(
                    self.rows("SELECT DISTINCT module FROM op_by_scope WHERE phase = 'forward' ORDER BY 1"),
                    [("Model",), ("Model/down",), ("Model/up",)],
                )
                self.assertIn("4 steps of the ops pass", done.stderr)
                self.assertEqual(len(self.losses(done.stdout)), 16)

    def test_the_program_computes_what_it_computes_without_kymo(self):
        plain, observed = self.observe("plain"), self.observe("once")
        self.assertEqual(self.losses(observed.stdout)[:4], self.losses(plain.stdout)[:4])
        self.assertEqual(plain.stderr, "")

    def test_several_blocks_are_runs_of_their_own(self):
        self.observe("twice")
        self.assertEqual(self.rows(STEPS), [*steps(1, "ops", 4), *steps(2, "time", 4)])
        modules = "SELECT DISTINCT module FROM op_by_scope WHERE run_id = 1 AND module LIKE 'Model%'"
        self.assertEqual(len(self.rows(modules)), 3)

    def test_the_end_of_the_block_ends_the_last_step(self):
        self.observe("last")
        self.assertEqual(self.rows(STEPS), steps(1, "ops", 3))
        self.assertEqual(self.rows("SELECT status FROM run"), [("ok",)])

    def test_an_exception_of_the_block_is_that_of_the_run_and_reaches_the_program(self):
        done = self.observe("raises")
        self.assertIn("\nmine\n", done.stdout)
        ((status, detail),) = self.rows("SELECT status, detail FROM run")
        self.assertEqual(status, "failed")
        self.assertIn("ValueError: mine", detail)

    def test_a_block_within_another_is_an_error_and_harms_nothing(self):
        done = self.observe("nested")
        self.assertIn("kymo.observe: an observation has begun and not ended", done.stdout)
        self.assertEqual(self.rows(STEPS), steps(1, "ops", 4))

    def test_wrong_arguments(self):
        done = self.observe("wrong")
        self.assertIn("--steps", done.stdout)
        self.assertIn("passes: 'memory' is none of trace, ops, counters, time", done.stdout)

    def test_within_kymo_trace_the_program_is_observed_as_a_whole(self):
        done = self.trace(PROGRAM, "once", options=["--steps", "3:6"])
        self.assertIn("kymo.observe does nothing, because kymo trace observes this program", done.stderr)
        self.assertEqual(self.rows(STEPS), steps(1, "ops", 3))


if __name__ == "__main__":
    unittest.main()
