# SPDX-License-Identifier: Apache-2.0
"""Usage errors that require a plugin catalog: one line, exit code 2, and no files written."""

import re
import shutil
import signal
import subprocess
import time
import unittest

from kymo_tool import HANG_S, KYMO, PLUGINS, SAXPY, KymoTest

MISTAKES = [
    (["run", "saxpi"], "did you mean 'saxpy'"),
    (["describe", "saxpi"], "did you mean 'saxpy'"),
    (["verify", "saxpi"], "did you mean 'saxpy'"),
    (["run", "saxpy", "--set", "nn=1"], "did you mean 'n'"),
    (["run", "saxpy", "--set", "n=0"], "'n'"),
    (["run", "saxpy", "--set", "n=many"], "'n'"),
    (["run", "saxpy", "--set", "n=8,precision=fp32"], "set each parameter separately"),
    (["run", "saxpy", "--set", "n=128,256"], "--axis n=128,256"),
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
    (["run", "saxpy", "--axis", "ranks=1,none"], "'none'"),
    (["run", "saxpy", "--axis", "ranks=1,2", "--ranks", "2"], "mutually exclusive"),
    (["suite", "run", "quik"], "did you mean 'quick'"),
    (["suite", "run", "cs336", "--profile", "smal"], "did you mean 'small'"),
]


class UsageTest(KymoTest):
    def test_two_plugins_with_a_workload_of_the_same_name(self):
        shutil.copy(SAXPY, self.work / "mine.so")
        self.environment["KYMO_PLUGIN_PATH"] = str(self.work)
        listed = self.kymo("list").stdout
        self.assertEqual(len(re.findall(r"^saxpy ", listed, re.MULTILINE)), 2)
        self.assertIn(str(self.work.resolve() / "mine.so"), listed)
        self.assertIn("./mine.so:saxpy", self.kymo("run", "saxpy", code=2).stderr)
        self.kymo("run", "./mine.so:saxpy", "--plan")

    def test_axes_without_values_and_of_ranks(self):
        self.assertEqual(len(self.kymo_json("run", "saxpy", "--axis", "precision", "--plan")), 2)
        plan = self.kymo_json("run", "saxpy", "--axis", "ranks=1,2", "--set", "n=4k", "--plan")
        self.assertEqual([run["case"]["ranks"] for run in plan], [1, 2])
        self.assertEqual([run["case"]["parameters"]["n"] for run in plan], [4000, 4000])

    def test_against_finds_workloads_of_named_files(self):
        shutil.copy(SAXPY, self.work / "mine.so")
        done = self.kymo("run", "./mine.so", "--against", "saxpy:n=8", "--smoke", code=2)
        self.assertIn("in several plugins", done.stderr)  # the file's and the installed one
        shutil.copy(PLUGINS / "raw_valid.so", self.work / "raw.so")
        self.kymo("run", "./raw.so", "--against", "raw_valid:n=8", "--smoke")

    def test_a_report_in_a_folder_without_a_path(self):
        (self.work / "mine").mkdir()
        self.assertIn("contains no report.toml", self.kymo_with_database("report", "mine", code=2).stderr)
        (self.work / "mine" / "report.toml").write_text('title = "Mine"\n[[section]]\nheading = "H"\nprose = "p"\n')
        self.kymo("report", "mine")
        self.assertTrue((self.work / "report" / "report.md").exists())

    def kymo_with_database(self, *words, code):
        self.kymo("run", "saxpy", "--smoke", "--set", "n=8", "--device", "cpu")
        return self.kymo(*words, code=code)

    def test_a_query_is_interrupted(self):
        self.kymo_with_database("sql", "SELECT 1", code=0)
        endless = "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT count(*) FROM a"
        self.assertIn("stopped after its limit", self.kymo("sql", endless, "--timeout", "0.2", code=1).stderr)
        running = subprocess.Popen([str(KYMO), "sql", endless], cwd=self.work, env=self.environment)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        time.sleep(0.5)
        self.assertIsNone(running.poll())
        running.send_signal(signal.SIGINT)
        self.assertEqual(running.wait(timeout=HANG_S), -signal.SIGINT)

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
        done = self.kymo("run", "./notes.so", code=2)
        self.assertRegex(done.stderr, r"\Akymo: [^\n]+\n\Z")
        self.assertEqual([file.name for file in self.work.iterdir()], ["notes.so"])

    def test_a_program_is_to_be_observed(self):
        (self.work / "train.py").write_text("import torch\n")
        self.assertIn("kymo trace -- python train.py", self.kymo("run", "train.py", code=2).stderr)

    def test_reports_are_listed_with_their_titles(self):
        lines = self.kymo("report").stdout.splitlines()
        self.assertRegex("\n".join(lines), r"(?m)^program +Where the time of a program goes$")
        self.assertEqual([line for line in lines if len(line.split()) < 2], [])

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
