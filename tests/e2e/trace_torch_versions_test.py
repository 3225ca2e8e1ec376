# SPDX-License-Identifier: Apache-2.0
"""`kymo trace` under versions of torch without collector modules. tests/versions runs programs under those that have
some."""

import re
import subprocess
import unittest

from kymo_tool import needs_torch_parts
from trace_program_test import PHASES, PYTHON, STEPS, TRAIN, TraceTest

WARNINGS = "SELECT kind, detail FROM run_warning WHERE kind IN ('torch version', 'dropped records')"
# As if a program used another torch: modules are chosen when it first calls a module.
OF_ANOTHER_VERSION = """import os, runpy, sys
sys.path[0] = os.path.dirname(sys.argv[2])
import light_torch, torch
torch.__version__ = sys.argv.pop(1)
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


@needs_torch_parts
class WithoutModulesTest(TraceTest):
    def observe(self, version, passes):
        program = self.work / "other_version.py"
        program.write_text(OF_ANOTHER_VERSION, encoding="utf-8")
        options = ("--device", "cpu", "--passes", passes)
        return self.trace(program, version, TRAIN, "by_hand", STEPS, options=options)

    def test_what_needs_none_is_observed(self):
        losses = self.plain(TRAIN, "by_hand", STEPS)
        done = self.observe("99.1.0+cu999", "time,ops,memory,trace")
        self.assertEqual(done.stdout, losses * 4)
        self.assertEqual(self.outcome(), ("ok", ""))
        for name in ("time", "ops", "trace"):
            steps = self.rows("SELECT count(*) FROM sample WHERE pass = ? AND phase = 'step' AND warmup = 0", name)
            self.assertGreaterEqual(steps[0][0], 10, name)
        self.assertLessEqual({"step", "forward", "backward"}, {row[0] for row in self.rows(PHASES, 0)})
        self.assertGreater(self.rows("SELECT count(*) FROM range WHERE pass = 'trace'")[0][0], 0)
        self.assertEqual(self.rows("SELECT count(*) FROM op"), [(0,)])
        self.assert_one_warning("99.1.0+cu999")

    def release(self):
        """Version of the torch of these tests, such as 2.11.0."""
        program = "import importlib.metadata as m; print(m.version('torch'))"
        found = subprocess.run([PYTHON, "-c", program], check=True, stdout=subprocess.PIPE)
        return re.match(r"[0-9.]+", found.stdout.decode())[0]

    def test_a_nightly_build_is_an_unknown_version(self):
        base = self.release()
        nightly = f"{base}.dev20261101+cu130"
        self.observe(nightly, "ops")
        self.assertEqual(self.rows("SELECT count(*) FROM op"), [(0,)])
        self.assert_one_warning(nightly)

    def test_a_local_version_of_the_build_is_the_same(self):
        base = self.release()
        self.observe(f"{base}+cpu", "memory,ops")
        self.assertGreater(self.rows("SELECT count(*) FROM op")[0][0], 0)
        self.assertEqual(self.rows(WARNINGS), [])

    def assert_one_warning(self, version):
        ((kind, detail),) = self.rows(WARNINGS)
        self.assertEqual(kind, "torch version")
        self.assertRegex(detail, rf"not recorded under torch {re.escape(version)}; .*releases of torch 2\.11")

    def test_a_free_threaded_interpreter_is_refused(self):
        program = self.work / "free_threaded.py"
        program.write_text(f"import sys\nsys.abiflags += 't'\n{OF_ANOTHER_VERSION}", encoding="utf-8")
        losses = self.plain(TRAIN, "by_hand", STEPS)
        done = self.trace(program, "2.11.0", TRAIN, "by_hand", STEPS, options=("--passes", "time"), code=3)
        self.assertEqual(done.stdout, losses)
        self.assertIn("is a free-threaded build of Python, which kymo does not support", self.outcome()[1])


if __name__ == "__main__":
    unittest.main()
