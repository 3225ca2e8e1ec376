# SPDX-License-Identifier: Apache-2.0
"""Rows of compilations and graph breaks, from records as Dynamo keeps them."""

import sys
import unittest
from collections import Counter, defaultdict
from traceback import FrameSummary
from types import SimpleNamespace
from unittest import mock

import fake_host  # noqa: F401  (finds the built package)
from kymo_trace import _compilation, _program

BREAK = """Failed to trace builtin operator
  Explanation: Dynamo does not know how to trace builtin operator `print`
  Hint: Avoid calling builtin `print`.

  Developer debug context: builtin print"""
FORWARD = {
    "compile_id": "0/0",
    "co_name": "forward",
    "co_filename": "/code/train.py",
    "co_firstlineno": 10,
    "start_time_us": 1,
    "duration_us": 70,
    "inductor_cumulative_compile_time_us": 50,
}


class Metrics:
    """As the class of Dynamo."""

    @classmethod
    def create(cls, values):
        return dict(values)


class CompilationTest(unittest.TestCase):
    def setUp(self):
        self.step = (2, 5)
        self.reports = []
        self.utils = SimpleNamespace(
            CompilationMetrics=type("CompilationMetrics", (Metrics,), {}),
            counters=defaultdict(Counter),
            graph_break_reasons=[],
        )
        self.compilations = _compilation.Compilations(lambda: self.step, self.reports.append)
        self.set_eval_frame = mock.Mock(return_value="the callback of Dynamo")
        eval_frame = SimpleNamespace(set_eval_frame=self.set_eval_frame)
        modules = mock.patch.dict(sys.modules, {"torch._C._dynamo.eval_frame": eval_frame})
        modules.start()
        self.addCleanup(modules.stop)
        self.compilations.watch(self.utils)

    def compile(self, **values):
        self.assertEqual(self.utils.CompilationMetrics.create(values), values)

    def test_dynamo_is_suspended_while_a_record_is_kept(self):
        self.compile(**FORWARD)
        calls = [call.args for call in self.set_eval_frame.call_args_list]
        self.assertEqual(calls, [(None,), ("the callback of Dynamo",)])

    def rows(self):
        """All columns but the start."""
        with mock.patch.object(_program, "compilation") as taken:
            self.compilations.deliver()
        return [(row.args[0], *row.args[1:3], *row.args[4:]) for row in taken.call_args_list]

    def add_break(self, reason, stack=None):
        self.utils.counters["graph_break"][reason] += 1
        if stack is not None:
            self.utils.graph_break_reasons.append(SimpleNamespace(reason=reason, user_stack=stack))

    def test_compilations(self):
        self.compile(**FORWARD)
        self.step = (3, 6)
        self.compile(compile_id="0/0", start_time_us=1, duration_us=20)
        reason = "0/0: size of x: 3, not 4\n0/0: dtype of y"
        self.compile(**{**FORWARD, "compile_id": "0/1", "recompile_reason": reason})
        self.compile(compile_id="0/1", is_runtime=True, duration_us=1)
        self.compile(**{**FORWARD, "compile_id": "1/0", "fail_type": "Unsupported", "fail_reason": BREAK})
        code = ("forward", "/code/train.py", 10)
        self.assertEqual(
            self.rows(),
            [
                (_program.COMPILATION, 2, 5, 70_000, 50_000, *code, ""),
                (_program.BACKWARD_COMPILATION, 3, 6, 20_000, -1, *code, ""),
                (_program.RECOMPILATION, 3, 6, 70_000, 50_000, *code, "size of x: 3, not 4; dtype of y"),
                (_program.RUNTIME_COMPILATION, 3, 6, 1_000, -1, *code, ""),
                (
                    _program.FAILED_COMPILATION,
                    3,
                    6,
                    70_000,
                    50_000,
                    *code,
                    "Unsupported: Failed to trace builtin operator: "
                    "Dynamo does not know how to trace builtin operator `print`",
                ),
            ],
        )
        self.assertEqual(self.rows(), [])

    def test_graph_breaks(self):
        self.compile(**FORWARD)
        self.rows()
        frame = FrameSummary("/code/model.py", 33, "torch_dynamo_resume_in_forward_at_30")
        self.add_break(BREAK, [FrameSummary("/code/train.py", 2, "main"), frame])
        self.add_break("in a loop")  # Dynamo gives up the function, and keeps no code
        self.compile(**{**FORWARD, "co_name": "torch_dynamo_resume_in_forward_at_30", "co_firstlineno": 30})
        reason = "Failed to trace builtin operator: Dynamo does not know how to trace builtin operator `print`"
        self.assertEqual(
            self.rows(),
            [
                (_program.GRAPH_BREAK, 2, 5, 0, -1, "forward", "/code/model.py", 33, reason),
                (_program.GRAPH_BREAK, 2, 5, 0, -1, "", "", 0, "in a loop"),
                (_program.COMPILATION, 2, 5, 70_000, 50_000, "forward", "/code/train.py", 30, ""),
            ],
        )
        self.add_break(BREAK, [frame])  # the same one, in another compilation
        self.compile(**FORWARD)
        self.assertEqual([row[0] for row in self.rows()], [_program.GRAPH_BREAK, _program.COMPILATION])
        self.compile(**FORWARD)
        self.assertEqual([row[0] for row in self.rows()], [_program.COMPILATION])

    def test_graph_breaks_after_a_reset(self):
        for _ in range(2):
            self.add_break(BREAK, [FrameSummary("/code/model.py", 33, "forward")])
        self.compile(**FORWARD)
        self.rows()
        self.utils.counters.clear()
        self.utils.graph_break_reasons.clear()
        self.add_break(BREAK, [FrameSummary("/code/model.py", 34, "forward")])
        self.compile(**FORWARD)
        self.assertEqual([row[7] for row in self.rows() if row[0] == _program.GRAPH_BREAK], [34])

    def test_counters_of_the_program_do_not_change(self):
        self.compile(**FORWARD)
        self.assertEqual(dict(self.utils.counters), {})

    def test_an_error_ends_the_observation_only(self):
        self.utils.graph_break_reasons = None
        self.compile(**FORWARD)
        self.assertIn("compilations: TypeError", self.reports[0])
        self.compile(**FORWARD)
        self.assertEqual((len(self.reports), self.rows()), (1, []))

    def test_a_torch_without_these_records(self):
        compilations = _compilation.Compilations(lambda: self.step, self.reports.append)
        compilations.watch(SimpleNamespace(counters={}))
        self.assertIn("CompilationMetrics", self.reports[0])


if __name__ == "__main__":
    unittest.main()
