# SPDX-License-Identifier: Apache-2.0
"""docs/examples/make.py generates reports from databases and states what is missing for the others."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

from kymo_tool import KYMO, SAXPY, KymoTest

MAKE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "make.py"


class ExamplesTest(KymoTest):
    def make(self, *words):
        words = [sys.executable, MAKE, "--out", self.folder / "out", *words]
        environment = {**os.environ, "PATH": f"{KYMO.parent}:{os.environ['PATH']}"}
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)

    def test_a_report_is_generated_from_a_database(self):
        database = self.folder / "quick.db"
        self.kymo("run", SAXPY, "--db", database)
        done = self.make(f"quick={database}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("saxpy", (self.folder / "out" / "quick" / "report.md").read_text(encoding="utf-8"))

    def test_a_missing_database_is_reported_with_its_machine(self):
        done = self.make("cs336-timing")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("to create it, run on one NVIDIA H200: kymo suite run cs336 --filter timing", done.stdout)


if __name__ == "__main__":
    unittest.main()
