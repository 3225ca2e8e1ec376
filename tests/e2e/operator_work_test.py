# SPDX-License-Identifier: Apache-2.0
"""The work of operators, derived from their arguments, against closed formulas."""

import signal
import unittest
from pathlib import Path

from kymo_tool import BUILD, KymoTest, SharedRunTest, needs_torch_parts
from trace_program_test import PROGRAMS, TraceTest

MODEL = Path(__file__).resolve().parent.parent / "python" / "workloads" / "model.py"
OPS = ["--passes", "ops", "--trace-detail", "shapes", "--warmup", "1", "--steps", "3", "--observed-steps", "2"]
BY_PHASE = """SELECT p.text AS phase, sum(o.calls * o.model_flops) / max(o.steps) AS model_flops,
                     sum(o.calls * o.flops) / max(o.steps) AS flops
              FROM op_work o JOIN string p ON p.string_id = o.phase_id
              WHERE o.run_id = ? AND o.kind IN ('matmul', 'attention', 'convolution') GROUP BY 1"""


@needs_torch_parts
class TransformerTest(KymoTest):
    def test_products_and_attention_equal_the_closed_formula(self):
        model = ["transformer_lm", "--device", "cpu", "--set", "size=tiny", "--set", "vocab_size=200"]
        model += ["--set", "context=48", "--set", "batch=2"]
        axes = ["--axis", "attention=naive,tiled,sdpa", "--axis", "autocast=false,true"]
        self.kymo("run", *model, *axes, "--set", "mode=train", *OPS)
        self.kymo("run", *model, "--axis", "attention=naive,sdpa", "--set", "mode=forward", *OPS)
        runs = self.rows("SELECT run_id, status FROM run")
        self.assertEqual([status for _, status in runs], ["ok"] * 8)
        for run, _ in runs:
            declared = dict(self.rows("SELECT phase, flops FROM work WHERE run_id = ?", run))
            counted = {row["phase"]: row["model_flops"] for row in self.records(BY_PHASE, run)}
            declared.pop("optimizer", None)
            self.assertEqual(counted, declared, f"run {run}")
        self.assertEqual(self.rows("SELECT DISTINCT kind FROM op_work WHERE kind IN ('unknown', 'declared')"), [])
        # The rows partition the time of the operators.
        (rows,) = self.rows("SELECT sum(host_ns) FROM op_work")[0]
        (calls,) = self.rows("SELECT sum(end_ns - start_ns) FROM op WHERE parent IS NULL AND step >= 1")[0]
        self.assertAlmostEqual(rows / calls, 1, places=3)
        self.assertEqual(self.rows("SELECT DISTINCT steps FROM op_work"), [(2,)])

    def test_nothing_without_arguments(self):
        self.kymo("run", "transformer_lm", "--device", "cpu", "--set", "size=tiny", *OPS[:2], *OPS[4:])
        self.assertEqual(self.rows("SELECT count(*) FROM op_work"), [(0,)])


@needs_torch_parts
class OwnOperatorsTest(SharedRunTest):
    words = (f"{MODEL}:checkpointed_model", *OPS)

    def rows_of_operator(self, name):
        return self.records(
            """SELECT p.text AS phase, o.kind, o.recomputed, o.calls, o.flops, o.model_flops, o.bytes
               FROM op_work o JOIN string n ON n.string_id = o.name_id LEFT JOIN string p ON p.string_id = o.phase_id
               WHERE n.text = ? ORDER BY o.sequence""",
            name,
        )

    def test_declared_work_counts_and_an_operator_that_calls_others_is_overhead(self):
        (scale,) = self.rows_of_operator("kymo_test::scale")
        self.assertEqual((scale["kind"], scale["flops"], scale["bytes"]), ("declared", 48, 384))
        self.assertEqual(len(self.rows("SELECT * FROM declared_op_work")), 2)
        (shift,) = self.rows_of_operator("kymo_test::shift")
        self.assertEqual((shift["kind"], shift["flops"]), ("overhead", 0), "it calls an operator with a rule")

    def test_recomputation_is_executed_but_no_work_of_the_model(self):
        flops = 2 * 6 * 8 * 4
        forward, again, gradient = self.rows_of_operator("aten::mm")
        self.assertEqual((forward["phase"], forward["recomputed"], forward["model_flops"]), ("forward", 0, flops))
        self.assertEqual((again["phase"], again["recomputed"], again["flops"]), ("backward", 1, flops))
        self.assertEqual(again["model_flops"], 0)
        self.assertEqual((gradient["recomputed"], gradient["model_flops"]), (0, flops))


@needs_torch_parts
class LibraryTest(TraceTest):
    """The library of an operator states its work, in workloads in Python and in observed programs."""

    library = str(BUILD / "lib" / "kymo" / "plugins" / "libkymo_ops.so")
    observed = ("--passes", "ops", "--trace-detail", "shapes")

    def check(self):
        found = self.rows(
            """SELECT DISTINCT n.text, o.kind, o.dtype, o.flops, o.bytes FROM op_work o
               JOIN string n ON n.string_id = o.name_id WHERE n.text LIKE 'kymo::%' ORDER BY 1"""
        )
        results, joint = 2 * 8, 2 * 16
        self.assertEqual(
            found,
            [
                ("kymo::swiglu", "elementwise", "f32", 6 * results, 4 * (joint + results)),
                ("kymo::swiglu_backward", "elementwise", "f32", 11 * results, 4 * (results + 2 * joint)),
            ],
        )

    def test_workload_in_python(self):
        workload = self.work / "gate.py"
        workload.write_text(
            """import kymo
import kymo.operators
import torch


@kymo.workload
def gate(run):
    "A step with an operator of a library"
    kymo.operators.load()
    x = torch.ones(2, 16, requires_grad=True)
    return lambda: torch.ops.kymo.swiglu(x).mean().backward()
""",
            encoding="utf-8",
        )
        self.kymo("run", f"{workload}:gate", *OPS)
        self.check()

    def test_observed_program(self):
        self.trace(PROGRAMS / "own_operators.py", self.library, "whole", options=self.observed)
        self.check()

    def test_observed_program_that_is_killed(self):
        program = (PROGRAMS / "own_operators.py", self.library, "kill_early")
        self.trace(*program, options=self.observed, code=128 + signal.SIGKILL)
        self.assertEqual(self.outcome()[0], "crashed")
        self.check()


if __name__ == "__main__":
    unittest.main()
