# SPDX-License-Identifier: Apache-2.0
"""`kymo trace` observes programs whose models are compiled, without a change of what is compiled."""

import shutil
import tempfile
import unittest
from pathlib import Path

from kymo_tool import long_test, needs_torch_parts
from trace_program_test import PHASES, PROGRAMS, STEP, TRAIN, TraceTest

COMPILED = PROGRAMS / "compiled.py"
STEPS = 16
OPERATORS = """SELECT n.text AS name, o.attribution, o.backward, p.text AS phase, q.text AS path FROM op o
               JOIN string n ON n.string_id = o.name_id LEFT JOIN string p ON p.string_id = o.phase_id
               LEFT JOIN string q ON q.string_id = o.scope_id
               WHERE o.step >= 3 AND o.run_id = (SELECT max(run_id) FROM run) AND o.rank = ?"""
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
        del self.environment["KYMO_TEST_LIGHT_TORCH"]
        self.environment["TORCHINDUCTOR_CACHE_DIR"] = str(self.alone)
        self.environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # more are processes, each of which imports torch
        # For each kind of vector instructions, Inductor would compile and start a program that imports torch.
        self.environment["TORCHINDUCTOR_VEC_ISA_OK"] = "0"

    def copy_of_cache(self):
        """A copy of Inductor's cache without the graphs: what a compiler made of generated code remains."""
        copy = self.work / "observed"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.alone, copy, ignore=shutil.ignore_patterns("fxgraph", "aotautograd"))
        return copy

    def test_graph_breaks_and_recompilations(self):
        # The program prints the same with and without kymo: losses, and what Dynamo counted.
        expected = self.plain(COMPILED, "breaks", STEPS, "aot_eager")
        self.assertEqual(self.trace(COMPILED, "breaks", STEPS, "aot_eager").stdout, expected)
        self.assertEqual(self.outcome(), ("ok", ""))
        self.assertEqual(self.metric("not_observed"), set())
        breaks = int(expected.splitlines()[-1])
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

    @long_test
    def test_another_backend(self):
        self.trace_each(TRAIN, ["compiled", "compiled_checkpointed"], STEPS)
        for rank in (0, 1):
            found = {phase: (steps, calls) for phase, steps, calls in self.rows(PHASES, rank)}
            self.assertEqual(found, dict.fromkeys(["step", "other", *STEP], (10, 10)))
        rows = self.records(OPERATORS, 0)
        forward = {row["path"] for row in rows if row["phase"] == "forward" and not row["backward"]}
        self.assertEqual(forward, {"Transformer"})

    def test_compiled_functions(self):
        kinds = {
            "loss_of_model": {"forward": 2, "backward": 1, "optimizer": 1},
            "loss_of_tensors": {"forward": 1, "backward": 1},  # and an update
            "optimizer_step": {"forward": 1, "backward": 1, "optimizer": 1},
        }
        self.trace_each(COMPILED, [*kinds, "whole_step"], STEPS, "aot_eager")
        for rank, (kind, expected) in enumerate(kinds.items()):
            found = {phase: calls / 10 for phase, _, calls in self.rows(PHASES, rank)}
            self.assertEqual(found, {"step": 1, "other": 1, **expected}, kind)
        self.assertEqual(self.metric("assumed_step_boundary", 0), set())
        self.assertEqual(len(self.metric("assumed_step_boundary", 1)), 1)  # it has no optimizer
        self.assertEqual(self.rows("SELECT count(*) FROM sample WHERE rank = 3 AND phase = 'optimizer'")[0], (13,))
        rows = self.records("SELECT * FROM compilation_event WHERE kind = 'graph_break'")
        self.assertEqual({row["location"].partition(":")[0] for row in rows if row["rank"] == 2}, {"optimizer.py"})
        self.assertTrue(all("kymo" not in row["location"] + row["reason"] for row in rows), rows)

    @long_test
    def test_inductor(self):
        kinds = ["whole", "parts", "function"]
        for kind in kinds:  # fills the cache
            self.plain(COMPILED, kind, STEPS, "inductor")
        self.environment["TORCHINDUCTOR_CACHE_DIR"] = str(self.copy_of_cache())
        self.trace_each(COMPILED, kinds, STEPS, "inductor")
        for rank in range(3):
            self.assertEqual(self.metric("not_observed", rank), set())
            self.assertIn("Model/layers.1/feed_forward/GELU_1", {path for _, path in self.generated(rank)}, kinds[rank])
        self.check_modules()
        generated = self.generated()
        # On a hit of the cache, nothing is generated. By default, Inductor compiles in processes of its own.
        del self.environment["TORCHINDUCTOR_COMPILE_THREADS"]
        self.trace(COMPILED, "whole", STEPS, "inductor")
        self.assertEqual(self.generated(), generated)
        # What was compiled without kymo is not compiled again.
        self.environment["TORCHINDUCTOR_CACHE_DIR"] = str(self.alone)
        self.trace(COMPILED, "whole", STEPS, "inductor")
        self.assertEqual({path for _, path in self.generated()}, set())
        self.assertIn("TORCHINDUCTOR_CACHE_DIR", next(iter(self.metric("not_observed"))))
        missing = self.rows("SELECT evidence FROM not_recorded WHERE run_id = 3 AND subject = 'not observed'")
        self.assertEqual(len(missing), 1)

    def check_modules(self):
        found = {}
        for row in self.records(OPERATORS, 0):
            if row["name"].startswith("cpp_") or row["name"] == "aten::addmm":
                key = (row["phase"], row["name"].startswith("cpp_"))
                found.setdefault(key, set()).add((row["path"], row["attribution"]))
        # Each linear layer is a call of a library.
        linear = {f"Model/layers.{i}/feed_forward/Linear_{j}" for i in (0, 1) for j in (0, 2)} | {"Model/head"}
        self.assertEqual({path for path, _ in found["forward", False]}, linear)
        modules = {path for path, how in found["forward", True] if how != "fused"}
        sets = {path for path, how in found["forward", True] if how == "fused"}
        self.assertIn("Model/layers.0/norm", modules)
        self.assertIn("Model/layers.1/feed_forward/GELU_1", modules)
        self.assertTrue(any(path.startswith("Model/{layers.0") and "layers.1" in path for path in sets), sets)
        backward = {path for path, _ in found["backward", True]}
        self.assertTrue(any("norm" in path for path in backward), backward)
        self.assertTrue(all(path.startswith("Model") for path in backward), backward)

    def generated(self, rank=0):
        """Generated kernels and their modules, in the last run."""
        return {(row["name"], row["path"]) for row in self.records(OPERATORS, rank) if row["name"].startswith("cpp")}

    def test_nothing_compiled(self):
        self.trace(PROGRAMS / "train.py", "by_hand", STEPS)
        self.assertEqual(self.rows("SELECT * FROM compilation"), [])


if __name__ == "__main__":
    unittest.main()
