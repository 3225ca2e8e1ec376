# SPDX-License-Identifier: Apache-2.0
"""Operators belong to the lines of Python code that called them, by a program whose lines call known numbers."""

import json
import unittest

from kymo_tool import needs_torch_parts
from trace_program_test import PROGRAMS, TraceTest

PROGRAM = PROGRAMS / "lines.py"
OPTIONS = ["--steps", "4:8", "--stacks", "python"]


def line_of(comment, file=PROGRAM):
    """The place of the line with a comment, such as lines.py:18."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return f"{file.name}:{next(i for i, line in enumerate(lines, 1) if line.endswith('# ' + comment))}"


@needs_torch_parts
class LinesTest(TraceTest):
    def lines(self, columns, of_forward=0):
        query = f"SELECT location, {columns} FROM line_time WHERE of_forward = ? ORDER BY 1"
        return {location: values for location, *values in self.rows(query, of_forward)}

    def report(self):
        self.kymo("report", "program", "--format", "markdown", "--out", "page")
        return "".join(file.read_text(encoding="utf-8") for file in (self.work / "page").rglob("*.md"))

    def test_operators_belong_to_lines_and_the_backward_pass_to_those_of_the_forward_pass(self):
        expected_output = self.plain(PROGRAM)
        done = self.trace(PROGRAM, options=OPTIONS)
        self.assertEqual(done.stdout, expected_output)
        self.assertEqual(self.rows("SELECT count(*) FROM dropped_record"), [(0,)])
        forward = self.lines("operators, host_reads, function, phase")
        three, once = line_of("three times"), line_of("once")
        self.assertEqual(forward[three], [3, 0, "Model.forward", "forward"])
        self.assertEqual(forward[once], [1, 0, "Model.forward", "forward"])
        helper = line_of("halved", PROGRAM.with_name("halved_lines.py"))
        self.assertEqual(forward[helper][2:], ["halve", "forward"])
        self.assertEqual(forward[line_of("update")][3], "optimizer")
        self.assertEqual(forward[line_of("read")][1:3], [1, "<module>"])
        self.assertEqual(sum(reads for _, reads, *_ in forward.values()), 1)
        backward = self.lines("operators, phase", of_forward=1)
        self.assertEqual({phase for _, phase in backward.values()}, {"backward"})
        nodes = dict(
            self.rows("""SELECT name, group_concat(DISTINCT frames) FROM op_call JOIN python_stack
                         USING (run_id, rank, pass, stack) WHERE backward = 1 AND step >= 4 GROUP BY name""")
        )
        self.assertIn(f"{PROGRAMS}/{three})", nodes["SinBackward0"])
        self.assertIn(f"{PROGRAMS}/{once})", nodes["CosBackward0"])
        self.assertIn(f"{PROGRAMS}/{helper})", nodes["DivBackward0"])
        self.assertNotIn("torch::autograd::AccumulateGrad", nodes)
        self.assertEqual(backward[three][0] % 3, 0)

    def test_all_operators_are_counted_and_unknown_lines_named_as_such(self):
        text = self.trace(PROGRAM, options=OPTIONS).stderr
        ((of_lines, unknown),) = self.rows(
            "SELECT sum(operators), sum(CASE WHEN line IS NULL THEN operators END) FROM line_time"
        )
        ((of_operators,),) = self.rows("SELECT sum(calls) FROM op_summary WHERE phase = 'step'")
        self.assertAlmostEqual(of_lines, of_operators)
        self.assertGreater(unknown, 0)  # accumulation of gradients
        self.assertLess(unknown, of_lines / 4)
        self.assertIn("(unknown)", text)
        self.assertIn(line_of("three times"), text)
        self.assertRegex(" ".join(text.split()), rf"values read by the host: 1 per step.*most in {line_of('read')}")
        report = self.report()
        self.assertIn("By line of Python", report)
        self.assertIn(f"`{line_of('three times')}`", report)
        self.kymo("export", "perfetto", "--db", "kymo.db", "-o", "trace.json")
        events = json.loads((self.work / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
        sines = [event for event in events if event.get("name") == "aten::sin" and event["args"]["backward"] == 0]
        self.assertIn(line_of("three times"), sines[0]["args"]["Python stack"])

    def test_none_are_recorded_without_the_option(self):
        self.trace(PROGRAM, options=["--steps", "4:8"])
        self.assertEqual(self.rows("SELECT count(*) FROM line_total"), [(0,)])
        self.assertEqual(self.rows("SELECT count(*) FROM stack"), [(0,)])
        self.assertIn("`--stacks python` records them", self.report())


if __name__ == "__main__":
    unittest.main()
