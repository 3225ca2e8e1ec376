# SPDX-License-Identifier: Apache-2.0
"""`kymo trace` observes programs whose models are compiled, without a change of what is compiled."""

import shutil
import unittest
from pathlib import Path

from kymo_tool import needs_torch_parts
from trace_program_test import PROGRAMS, TraceTest

COMPILED = PROGRAMS / "compiled.py"
STEPS = 16
OPERATORS = """SELECT n.text AS name, o.attribution, o.backward, p.text AS phase, q.text AS path FROM op o
               JOIN string n ON n.string_id = o.name_id LEFT JOIN string p ON p.string_id = o.phase_id
               LEFT JOIN string q ON q.string_id = o.scope_id
               WHERE o.step >= 3 AND o.run_id = (SELECT max(run_id) FROM run)"""
COMPILATIONS = "SELECT * FROM compilation_event ORDER BY pass, sequence"


def line_of(text):
    """Number of the first line of the program that contains a text."""
    lines = COMPILED.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@needs_torch_parts
class CompilationsTest(TraceTest):
    def check(self, kind, backend, options=()):
        """The program prints the same with and without kymo: losses, and what Dynamo counted."""
        self.environment["TORCHINDUCTOR_CACHE_DIR"] = str(self.work / "alone")
        expected = self.plain(COMPILED, kind, STEPS, backend)
        self.environment["TORCHINDUCTOR_CACHE_DIR"] = str(self.copy_of_cache())
        self.assertEqual(self.trace(COMPILED, kind, STEPS, backend, options=options).stdout, expected)
        self.assertEqual(self.outcome(), ("ok", ""))
        self.assertEqual(self.metric("not_observed"), set())
        return int(expected.splitlines()[-1])

    def copy_of_cache(self):
        """A copy of Inductor's cache without the graphs: what a compiler made of generated code remains."""
        copy = self.work / "observed"
        shutil.rmtree(copy, ignore_errors=True)
        if (self.work / "alone").exists():
            shutil.copytree(self.work / "alone", copy, ignore=shutil.ignore_patterns("fxgraph", "aotautograd"))
        return copy

    def test_graph_breaks_and_recompilations(self):
        breaks = self.check("breaks", "aot_eager")
        rows = self.records(COMPILATIONS)
        broken = [row for row in rows if row["kind"] == "graph_break"]
        self.assertEqual(len(broken), breaks)
        place = f"compiled.py:{line_of('graph_break()')}"
        self.assertEqual({(row["location"], row["function"]) for row in broken}, {(place, "forward")})
        self.assertIn("graph_break()", broken[0]["reason"])
        self.assertEqual(broken[0]["program_step"], 0)
        again = [row for row in rows if row["kind"] == "recompilation" and row["program_step"] == 8]
        self.assertGreater(len(again), 0)
        # The first measured step is the program's step 5, so step 8 of the program is measured.
        self.assertEqual({(row["step"], row["measured"]) for row in again}, {(again[0]["step"], 1)})
        self.assertTrue(all("mismatch" in row["reason"] for row in again), again)
        self.assertTrue(all(row["ms"] > 0 for row in rows if row["kind"] != "graph_break"))
        self.assertLess(max(row["ms"] for row in again), again[0]["start_ms"])  # the clock of the run
        steps = self.records("SELECT * FROM compilation_step WHERE program_step = 8")
        self.assertEqual(len(steps), 1)
        self.assertLess(steps[0]["compile_ms"], steps[0]["step_ms"])
        shown = self.kymo("show", "1").stdout
        self.assertIn(place, shown)
        findings = self.records("SELECT * FROM step_finding")
        self.assertIn("graph breaks", {row["subject"] for row in findings})
        self.assertIn("compilation in measured steps", {row["subject"] for row in findings})
        self.kymo("report", "program", "--format", "markdown", "--out", "page")
        report = "".join(file.read_text(encoding="utf-8") for file in Path(self.work, "page").rglob("*.md"))
        self.assertIn("Time of compilation by step", report)
        self.assertIn(place, report)

    def test_nothing_compiled(self):
        self.trace(PROGRAMS / "train.py", "by_hand", STEPS)
        self.assertEqual(self.rows("SELECT * FROM compilation"), [])


if __name__ == "__main__":
    unittest.main()
