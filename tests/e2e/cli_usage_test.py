# SPDX-License-Identifier: Apache-2.0
"""Usage errors that require a plugin catalog: one line, exit code 2, and no files written."""

import subprocess
import unittest

from kymo_tool import KYMO, KymoTest

MISTAKES = [
    (["run", "saxpi"], "did you mean 'saxpy'"),
    (["describe", "saxpi"], "did you mean 'saxpy'"),
    (["verify", "saxpi"], "did you mean 'saxpy'"),
    (["run", "saxpy", "--set", "nn=1"], "did you mean 'n'"),
    (["run", "saxpy", "--set", "n=0"], "'n'"),
    (["run", "saxpy", "--set", "n=many"], "'n'"),
    (["run", "saxpy", "--set", "n=8,precision=fp32"], "set each parameter separately"),
    (["run", "saxpy", "--set", "precision=fp31"], "fp32"),
    (["run", "saxpy", "--set", "n=1", "--axis", "n=1,2"], "given twice"),
    (["run", "saxpy", "--set", "n=1", "--set", "n=2"], "given twice"),
    (["run", "saxpy", "--axis", "n=1..8"], "lo..hi*factor"),
    (["run", "saxpy", "--axis", "precision=fp32,fp31"], "fp31"),
    (["run", "saxpy", "--axis", "n=1..200000+1"], "more than 100000"),
    (["run", "saxpy", "--axis", "n=1..1000+1", "--axis", "a=1..1000+1"], "more than 100000"),
    (["run", "saxpy", "--repeat", "200000"], "more than 100000"),
    (["run", "saxpy", "--device", "cuda"], "cuda"),
    (["run", "saxpy", "--filter", "("], "regular expression"),
    (["run", "saxpy", "--filter", "nothing-like-it"], "matches no case"),
    (["run", "saxpy", "saxpi"], "did you mean 'saxpy'"),
    (["suite", "run", "quik"], "did you mean 'quick'"),
    (["suite", "run", "cs336", "--profile", "smal"], "did you mean 'small'"),
]


class UsageTest(KymoTest):
    def test_usage_errors(self):
        for words, message in MISTAKES:
            with self.subTest(words=words):
                done = self.kymo(*words, code=2)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, r"\Akymo: [^\n]+\n\Z")
                self.assertIn(message, done.stderr)
                self.assertEqual(list(self.work.iterdir()), [])

    def test_a_file_that_is_no_plugin(self):
        (self.work / "notes.so").write_text("not a library")
        done = self.kymo("run", "./notes.so", code=1)
        self.assertRegex(done.stderr, r"\Akymo: [^\n]+\n\Z")
        self.assertEqual([file.name for file in self.work.iterdir()], ["notes.so"])

    def test_a_file_that_is_no_database(self):
        (self.work / "kymo.db").write_text("important notes")
        self.assertIn("kymo.db", self.kymo("sql", "SELECT 1", code=1).stderr)
        self.assertIn("kymo.db", self.kymo("run", "saxpy", code=1).stderr)
        self.assertEqual((self.work / "kymo.db").read_text(), "important notes")

    def test_full_standard_output(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(
                [str(KYMO), "suite", "list"],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                env=self.environment,
                check=False,
            )
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", done.stderr)


if __name__ == "__main__":
    unittest.main()
