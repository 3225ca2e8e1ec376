# SPDX-License-Identifier: Apache-2.0
"""`kymo trace` observes programs whose models are compiled, without a change of what is compiled."""

import shutil
import tempfile
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
    """All tests share what the C++ compiler made without kymo, in Inductor's cache `alone`."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.alone = Path(tempfile.mkdtemp(prefix="kymo-inductor-"))
        cls.addClassCleanup(shutil.rmtree, cls.alone, ignore_errors=True)

    def setUp(self):
        super().setUp()
        self.environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # more are processes, each of which imports torch
        # For each kind of vector instructions, Inductor would compile and start a program that imports torch.
        self.environment["TORCHINDUCTOR_VEC_ISA_OK"] = "0"

    def check(self, kind, backend, options=()):
        """The program prints the same with and without kymo: losses, and what Dynamo counted."""
        self.environment["TORCHINDUCTOR_CACHE_DIR"] = str(self.alone)
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
        shutil.copytree(self.alone, copy, ignore=shutil.ignore_patterns("fxgraph", "aotautograd"))
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

    def test_inductor(self):
        self.check("whole", "inductor")
        rows = self.records(OPERATORS)
        found = {}
        for row in rows:
            if row["name"].startswith("cpp_") or row["name"] == "aten::addmm":
                key = (row["phase"], row["name"].startswith("cpp_"))
                found.setdefault(key, set()).add((row["path"], row["attribution"]))
        # Each linear layer is a call of a library.
        linear = {f"Model/layers.{i}/feed_forward/{j}" for i in (0, 1) for j in (0, 2)} | {"Model/head"}
        self.assertEqual({path for path, _ in found["forward", False]}, linear)
        modules = {path for path, how in found["forward", True] if how != "fused"}
        sets = {path for path, how in found["forward", True] if how == "fused"}
        self.assertIn("Model/layers.0/norm", modules)
        self.assertIn("Model/layers.1/feed_forward/1", modules)
        self.assertTrue(any(path.startswith("Model/{layers.0") and "layers.1" in path for path in sets), sets)
        backward = {path for path, _ in found["backward", True]}
        self.assertTrue(any("norm" in path for path in backward), backward)
        self.assertTrue(all(path.startswith("Model") for path in backward), backward)
        # On a hit of the cache, nothing is generated.
        again = self.trace(COMPILED, "whole", STEPS, "inductor")
        self.assertEqual(again.returncode, 0)
        paths = {}
        for run, name, path in self.rows(
            "SELECT o.run_id, n.text, q.text FROM op o JOIN string n ON n.string_id = o.name_id "
            "LEFT JOIN string q ON q.string_id = o.scope_id WHERE n.text LIKE 'cpp%'"
        ):
            paths.setdefault(run, set()).add((name, path))
        self.assertEqual(len(paths), 2)
        self.assertEqual(*paths.values())
        # What was compiled without kymo is not compiled again.
        self.environment["TORCHINDUCTOR_CACHE_DIR"] = str(self.alone)
        self.trace(COMPILED, "whole", STEPS, "inductor")
        self.assertEqual(self.paths(), set())
        self.assertIn("TORCHINDUCTOR_CACHE_DIR", next(iter(self.metric("not_observed"))))
        findings = self.rows("SELECT evidence FROM step_finding WHERE run_id = 3 AND subject = 'not observed'")
        self.assertEqual(len(findings), 1)

    def test_parts_and_functions(self):
        self.check("parts", "inductor")
        self.assertIn("Model/layers.1/feed_forward/1", self.paths())
        del self.environment["TORCHINDUCTOR_COMPILE_THREADS"]
        self.check("function", "inductor")
        self.assertIn("Model/layers.1/feed_forward/1", self.paths())

    def paths(self):
        return {row["path"] for row in self.records(OPERATORS) if row["name"].startswith("cpp_")}

    def test_nothing_compiled(self):
        self.trace(PROGRAMS / "train.py", "by_hand", STEPS)
        self.assertEqual(self.rows("SELECT * FROM compilation"), [])


if __name__ == "__main__":
    unittest.main()
