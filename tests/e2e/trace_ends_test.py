# SPDX-License-Identifier: Apache-2.0
"""What `kymo trace` keeps of programs that are killed within the steps to observe."""

import signal
import unittest

from kymo_tool import needs_torch_parts
from trace_program_test import ENDS, OPERATORS, PROGRAMS, TraceTest

TOTALS = "SELECT n.text, sum(t.calls) FROM op_total t JOIN string n ON n.string_id = t.name_id GROUP BY n.text"


@needs_torch_parts
class KilledTest(TraceTest):
    """The complete steps, with their phases and metrics, are kept however the process ends."""

    def setUp(self):
        super().setUp()
        self.addCleanup(lambda: self.assertFalse((self.work / "kymo.db.scratch").exists()))

    def check(self, how, code, detail, options=(), first_step=2):
        self.trace(ENDS, how, options=options, code=code)
        status, text = self.outcome()
        self.assertEqual(status, "crashed")
        self.assertIn(detail, text)
        phases = dict(self.rows("SELECT phase, count(*) FROM sample WHERE warmup = 0 GROUP BY phase"))
        self.assertEqual(phases, dict.fromkeys(("step", "forward", "backward", "optimizer", "other"), 2))
        self.assertEqual(self.metric("first_step"), {first_step})
        self.assertEqual(self.rows("SELECT count(*) FROM rank WHERE device_id IS NOT NULL")[0][0], 1)

    def warnings(self, kind):
        return self.rows("SELECT detail FROM run_warning WHERE kind = ?", kind)

    def test_by_a_signal(self):
        self.check("kill_early", 128 + signal.SIGKILL, "signal 9")
        self.assertEqual(self.warnings("fewer steps"), [("the program ended after 2 of the 10 steps to measure",)])
        ((dropped,),) = self.warnings("dropped records")
        self.assertIn("those since its last complete step are missing", dropped)
        self.assertIn("fewer steps", self.kymo("show", "1").stdout)
        self.check_operators()

    def check_operators(self):
        """Those of the two measured steps, which are complete, have their phase, module and totals."""
        found = self.records(OPERATORS)
        forward = {row["name"] for row in found if row["path"] == "Linear" and row["phase"] == "forward"}
        self.assertLessEqual({"aten::linear", "aten::addmm"}, forward)
        self.assertEqual({row["phase"] for row in found}, {"forward", "backward", "optimizer", None})
        each = self.rows("SELECT step, count(*) FROM op GROUP BY step ORDER BY step")
        self.assertEqual([step for step, _ in each], list(range(len(each))))
        self.assertEqual(len({count for step, count in each if step > 0}), 1)
        self.assertEqual(self.rows("SELECT count(*) FROM op WHERE end_ns IS NULL"), [(0,)])
        totals = dict(self.rows(TOTALS))
        self.assertEqual(totals["aten::addmm"], 2)

    def test_by_an_exit_from_c(self):
        self.check("c_exit_early", 6, "exited with code 6")

    def test_with_collective_calls(self):
        self.check("group_early", 128 + signal.SIGKILL, "signal 9")
        each = self.rows(
            "SELECT step, count(*), min(operation), min(dtype), sum(returned_ns IS NULL) FROM collective "
            "GROUP BY step ORDER BY step"
        )
        self.assertEqual(each, [(step, 2, "all_reduce", "f32", 0) for step in range(len(each))])
        steps = self.rows("SELECT count(DISTINCT step) FROM sample")[0][0]
        self.assertEqual(len(each), steps)

    def test_by_a_signal_in_the_memory_pass(self):
        self.check("kill_early", 128 + signal.SIGKILL, "signal 9", ["--passes", "memory"], first_step=-1)
        categories = dict(self.rows("SELECT category, count(*) FROM allocation GROUP BY category"))
        for category in ("parameter", "gradient", "activation"):
            self.assertGreater(categories[category], 0, categories)
        scopes = self.rows(
            "SELECT DISTINCT s.text FROM allocation a JOIN string s ON s.string_id = a.scope_id WHERE a.step > 0"
        )
        self.assertIn(("Linear",), scopes)
        each = self.rows("SELECT step, count(*) FROM allocation WHERE step > 0 GROUP BY step ORDER BY step")
        self.assertGreaterEqual(len(each), 4)
        self.assertEqual(len({count for _, count in each[1:]}), 1, each)
        self.assertEqual(self.rows("SELECT count(*) FROM allocation WHERE free_ns < alloc_ns"), [(0,)])
        functions = self.rows(
            "SELECT count(*) FROM stack_frame f JOIN string n ON n.string_id = f.function_id WHERE n.text LIKE 'at::%'"
        )
        self.assertGreater(functions[0][0], 0)
        self.assertEqual(len(self.rows("SELECT * FROM memory_phase WHERE phase = 'forward' AND warmup = 0")), 2)

    def test_by_a_segmentation_fault_in_the_time_pass(self):
        self.check("segfault_early", 128 + signal.SIGSEGV, "signal 11", ["--passes", "time"])
        self.assertEqual(self.warnings("dropped records"), [])
        self.assertEqual(self.rows("SELECT count(*) FROM sample WHERE cpu_ns > 0")[0][0], 5)
        self.assertEqual(self.rows("SELECT count FROM statistic WHERE phase = 'step'"), [(2,)])

    def test_with_a_damaged_journal(self):
        done = self.trace(ENDS, "damage_early", options=["--passes", "time"], code=128 + signal.SIGKILL)
        self.assertIn("the journal of rank 0 of run 1 is damaged, and was moved to ", done.stderr)
        self.assertLess(self.measured_steps(), 2)
        ((dropped,),) = self.warnings("dropped records")
        self.assertIn("the journal of steps is damaged at byte ", dropped)
        kept = sorted(file.name for file in (self.work / "kymo.db.damaged").iterdir())
        self.assertEqual(kept, ["RUN-1-0-time.kymo.steps"])

    def test_together_with_kymo(self):
        self.kill_kymo()
        self.assertEqual(self.outcome()[0], "interrupted")
        self.assertEqual(self.measured_steps(), 24)

    def test_a_rank_of_several(self):
        launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
        self.trace(*launcher, PROGRAMS / "ddp_killed.py", 8, code=1)
        self.assertEqual(self.outcome()[0], "crashed")
        self.assertIn("rank 1 ended before reporting an outcome", self.outcome()[1])
        steps = self.rows("SELECT rank, count(*) FROM sample WHERE phase = 'step' AND warmup = 0 GROUP BY rank")
        self.assertEqual(steps, [(0, 3), (1, 3)])


if __name__ == "__main__":
    unittest.main()
