# SPDX-License-Identifier: Apache-2.0
"""`kymo trace` under other versions of torch than that of the build: with collector modules for them, and without."""

import re
import unittest

from kymo_tool import OTHER_TORCHES, needs_other_torch, needs_torch_parts
from trace_program_test import OPERATORS, PHASES, PROGRAMS, PYTHON, STEPS, TRAIN, TraceTest

PASSES = ("--device", "cpu", "--passes", "time,ops,memory,trace")
OPS = ("--device", "cpu", "--passes", "ops")
WARNINGS = "SELECT kind, detail FROM run_warning WHERE kind IN ('torch version', 'dropped records')"
# As if a program used another torch: modules are chosen when it first calls a module.
OF_ANOTHER_VERSION = """import runpy, sys, torch
torch.__version__ = sys.argv.pop(1)
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


@needs_torch_parts
class WithoutModulesTest(TraceTest):
    def observe(self, version):
        program = self.work / "other_version.py"
        program.write_text(OF_ANOTHER_VERSION, encoding="utf-8")
        return self.trace(program, version, TRAIN, "by_hand", STEPS, options=PASSES)

    def test_what_needs_none_is_observed(self):
        losses = self.plain(TRAIN, "by_hand", STEPS)
        done = self.observe("99.1.0+cu999")
        self.assertEqual(done.stdout, losses * 4)
        self.assertEqual(self.outcome(), ("ok", ""))
        for name in ("time", "ops", "trace"):
            steps = self.rows("SELECT count(*) FROM sample WHERE pass = ? AND phase = 'step' AND warmup = 0", name)
            self.assertGreaterEqual(steps[0][0], 10, name)
        self.assertLessEqual({"step", "forward", "backward"}, {row[0] for row in self.rows(PHASES)})
        self.assertGreater(self.rows("SELECT count(*) FROM range WHERE pass = 'trace'")[0][0], 0)
        self.assertEqual(self.rows("SELECT count(*) FROM op"), [(0,)])
        self.assert_one_warning("99.1.0+cu999")

    def test_a_nightly_build_is_an_unknown_version(self):
        base = re.match(r"[0-9.]+", self.plain("-c", "import torch; print(torch.__version__)"))[0]
        nightly = f"{base}.dev20261101+cu130"
        self.observe(nightly)
        self.assertEqual(self.rows("SELECT count(*) FROM op"), [(0,)])
        self.assert_one_warning(nightly)

    def test_a_local_version_of_the_build_is_the_same(self):
        base = re.match(r"[0-9.]+", self.plain("-c", "import torch; print(torch.__version__)"))[0]
        self.observe(f"{base}+cpu")
        self.assertGreater(self.rows("SELECT count(*) FROM op")[0][0], 0)
        self.assertEqual(self.rows(WARNINGS), [])

    def assert_one_warning(self, version):
        ((kind, detail),) = self.rows(WARNINGS)
        self.assertEqual(kind, "torch version")
        self.assertRegex(detail, rf"not recorded under torch {re.escape(version)}; .*releases of torch 2\.11")


@needs_torch_parts
@needs_other_torch
class WithModulesTest(TraceTest):
    def observed(self, passes, python, database, *program):
        done = self.kymo("trace", *passes, "--db", self.work / database, "--", python, *program)
        (self.work / "kymo.db").unlink(missing_ok=True)
        (self.work / "kymo.db").symlink_to(self.work / database)
        self.assertEqual(self.outcome(), ("ok", ""), done.stderr)
        self.assertEqual(self.rows(WARNINGS), [])
        self.assertEqual(self.rows("SELECT DISTINCT value FROM metric WHERE name = 'not_observed'"), [])
        return self.rows(PHASES), {row[2:] for row in self.rows(OPERATORS)}

    def test_steps_phases_and_modules_are_the_same(self):
        compiled = (PROGRAMS / "compiled.py", "whole", STEPS, "inductor")  # is compiled in each pass
        for passes, program in ((PASSES, (TRAIN, "by_hand", STEPS)), (OPS, compiled)):
            expected = self.observed(passes, PYTHON, f"{program[1]}.db", *program)
            for torch, python in OTHER_TORCHES.items():
                with self.subTest(torch=torch, program=program[1]):
                    database = f"{program[1]}-{torch.parents[3].name}.db"
                    self.assertEqual(self.observed(passes, python, database, *program), expected)
                    self.assertGreater(self.rows("SELECT count(*) FROM op")[0][0], 0)
                    blocks = self.rows("SELECT count(*) FROM allocation")[0][0]
                    self.assertEqual(blocks > 0, passes is PASSES, "only the memory pass records them")


if __name__ == "__main__":
    unittest.main()
