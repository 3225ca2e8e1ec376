# SPDX-License-Identifier: Apache-2.0
"""The pytest fixture kymo_benchmark in a fresh project, and the script of the example for continuous integration."""

import importlib.util
import os
import subprocess
import sys
import unittest
from pathlib import Path

from kymo_tool import BUILD, HANG_S, KYMO, KymoTest, needs_installed
from repository import Repository

COMPARE = Path(__file__).parents[2] / "docs" / "examples" / "ci" / "compare.sh"
# Sleeping takes at least its time however busy the machine is; 25 times the time is a regression on any machine.
TEST = """
import time

import pytest

import pause


@pytest.fixture
def amount():
    return {"s": pause.PAUSE_S}


def wait(amount, factor=1):
    time.sleep(factor * amount["s"])
    return "waited"


def test_wait(kymo_benchmark, amount):
    assert kymo_benchmark(wait, amount, factor=1) == "waited"
"""


@needs_installed(importlib.util.find_spec("pytest"), "pytest")
class BenchmarkFixtureTest(KymoTest):
    def setUp(self):
        super().setUp()
        self.project = Repository(self.work / "lab")
        self.commit(0.002)

    def commit(self, pause_s, test=TEST):
        files = {"test_wait.py": test, "pause.py": f"PAUSE_S = {pause_s}\n", ".gitignore": "*.db\n__pycache__\n"}
        return self.project.commit(f"pause of {pause_s} s", files)

    def run_in_project(self, command, code):
        environment = {
            **self.environment,
            "PYTHONPATH": str(BUILD / "lib" / "kymo" / "python"),
            "KYMO_PROGRAM": str(KYMO),
            "PATH": f"{KYMO.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        done = subprocess.run(
            command,
            cwd=self.project.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=HANG_S,
            check=False,
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def pytest(self, *words, code=0):
        return self.run_in_project(
            [sys.executable, "-m", "pytest", "-p", "kymo.pytest_plugin", "--kymo-min-time", "0.05", *words], code
        )

    def rows(self, query, *values):
        return super().sql(query, self.project.folder / "kymo.db")

    def test_a_regression_fails_and_an_improvement_does_not(self):
        self.commit(0.05)
        self.assertNotIn("verdict", self.pytest())
        self.commit(0.002)
        self.assertIn("FASTER", self.pytest("--kymo-compare", "--kymo-fail-on-slower"))
        commit = self.commit(0.05)
        slower = self.pytest("--kymo-compare", "--kymo-fail-on-slower", code=1)
        self.assertIn("test_wait.py::test_wait is slower than before", slower)
        self.assertIn("SLOWER", slower)
        rows = self.rows(
            "SELECT r.workload, l.parameters, r.status, count(*) AS runs, max(c.hash) AS hash "
            "FROM run r JOIN run_list l ON l.run_id = r.run_id JOIN run_commit c ON c.run_id = r.run_id "
            "GROUP BY r.invocation_id ORDER BY r.invocation_id"
        )
        self.assertEqual([row["runs"] for row in rows], [5, 5, 5])
        self.assertEqual({row["parameters"] for row in rows}, {"test=test_wait.py::test_wait"})
        self.assertEqual(rows[-1]["hash"], commit)
        processes = self.rows("SELECT count(DISTINCT k.pid) AS n FROM rank k")
        self.assertEqual(processes[0]["n"], 15)

    def test_a_first_run_has_nothing_to_compare_with(self):
        self.assertIn("no earlier runs to compare with", self.pytest("--kymo-compare", "--kymo-repeat", "1"))

    def test_without_measuring_the_function_is_called_once(self):
        self.pytest("--kymo-skip")
        self.assertFalse((self.project.folder / "kymo.db").exists())

    def test_a_function_that_fails_in_a_run_fails_the_test(self):
        failing = TEST.replace(
            "time.sleep(factor", "pause.CALLS.append(1); 1 / (len(pause.CALLS) < 3); time.sleep(factor"
        )
        (self.project.folder / "test_wait.py").write_text(failing)
        with (self.project.folder / "pause.py").open("a") as file:
            file.write("CALLS = []\n")
        self.assertIn("ended as failed", self.pytest("--kymo-repeat", "1", code=1))

    def test_the_fixture_is_called_exactly_once(self):
        self.commit(0.002, TEST.replace("kymo_benchmark(wait, amount, factor=1)", "wait(amount)"))
        self.assertIn("does not call it", self.pytest(code=1))

    def test_the_script_for_pull_requests_compares_two_commits(self):
        base = self.project.git("rev-parse", "HEAD")
        self.commit(0.05)
        arguments = ["-p", "kymo.pytest_plugin", "--kymo-min-time", "0.05"]
        comment = self.run_in_project(["sh", str(COMPARE), base, *arguments], 0)
        self.assertRegex(comment, r"\|.*SLOWER", comment)
        self.assertEqual(len(self.project.git("worktree", "list").splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
