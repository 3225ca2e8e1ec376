# SPDX-License-Identifier: Apache-2.0
"""Completion of command lines in bash, zsh and fish. The tests of the latter two are skipped without these shells."""

import os
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

from kymo_tool import BUILD, KYMO, PLUGINS, KymoTest

BASH = r"""
eval "$(kymo completion bash)"
COMP_LINE=$1; COMP_POINT=${#COMP_LINE}; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_kymo
(( ${#COMPREPLY[@]} )) && printf '%s\n' "${COMPREPLY[@]}"
"""
COMPLETE = ("complete", "--")
START_S = 60  # of an interactive shell on a busy machine


class CompletionTest(KymoTest):
    def setUp(self):
        super().setUp()
        self.environment["PATH"] = f"{KYMO.parent}:{self.environment['PATH']}"

    def complete(self, *words):
        """The candidates, each without its documentation."""
        lines = self.kymo(*COMPLETE, *words).stdout.splitlines()
        return [line.split("\t")[0] for line in lines]

    def test_commands_and_options(self):
        commands = self.complete("")
        self.assertTrue({"list", "run", "suite", "completion"} <= set(commands), commands)
        self.assertNotIn("complete", commands)
        self.assertEqual(self.complete("suite", ""), ["list", "run"])
        self.assertEqual(self.complete("run", "saxpy", "--dev"), ["--device"])
        self.assertEqual(self.complete("run", "saxpy", "--device", ""), ["auto", "cpu", "cuda"])
        self.assertEqual(self.complete("run", "saxpy", "--device=c"), ["--device=cpu", "--device=cuda"])
        self.assertEqual(self.complete("run", "--passes", "time,m"), ["time,memory"])
        self.assertEqual(self.complete("run", "--seed", ""), [])
        self.assertEqual(self.complete("trace", "--passes", "time", "--", "python", ""), [":files"])
        self.assertEqual(self.complete("run", "saxpy", "--on", ""), ["slurm", "local"])
        self.assertEqual(self.complete("run", "saxpy", "--on-option", "part"), ["partition="])
        self.assertEqual(self.complete("run", "saxpy", "--save"), [], "an option of jobs alone")
        self.assertEqual(self.complete("jobs", "wait", ""), [])
        (self.work / "kymo.db.jobs" / "1130-0215-5d0f3a").mkdir(parents=True)
        self.assertEqual(self.complete("jobs", "wait", ""), ["1130-0215-5d0f3a"])
        documented = self.kymo(*COMPLETE, "run", "--ranks").stdout
        self.assertRegex(documented, r"\A--ranks\tnumber of processes per run")

    def test_names_and_values(self):
        self.assertIn("saxpy", self.complete("run", "sa"))
        self.assertEqual(self.complete("run", "saxpy", "--set", ""), ["n=", "a=", "precision="])
        self.assertEqual(self.complete("run", "saxpy", "--set", "precision="), ["precision=fp32", "precision=fp64"])
        self.assertEqual(self.complete("run", "saxpy", "--axis", "precision=fp64,fp3"), ["precision=fp64,fp32"])
        self.assertEqual(self.complete("ab", "saxpy:precision=fp32,n"), ["saxpy:precision=fp32,n="])
        self.assertEqual(self.complete("suite", "run", "qu"), ["quick", ":files.toml"])
        self.assertEqual(self.complete("suite", "run", "cs336", "--profile", "s"), ["small"])
        self.assertEqual(self.complete("report", "qu"), ["quick", ":files"])
        self.assertEqual(self.complete("runs", "--db", ""), [":files.db"])

    def test_labels(self):
        self.assertEqual(self.complete("runs", "--label", ""), [], "there is no database")
        for label in ("before", "after"):
            self.kymo("run", "saxpy", "--smoke", "--device", "cpu", "--label", label, "--db", "mine.db")
        self.assertEqual(self.complete("runs", "--db", "mine.db", "--label", "b"), ["before"])
        self.assertEqual(self.complete("compare", "--db", "mine.db", "before", "a"), ["after"])
        self.assertEqual(sorted(self.complete("show", "--db", "mine.db", "")), ["1", "2"])

    def test_no_plugin_is_loaded(self):
        self.environment["KYMO_PLUGIN_PATH"] = str(self.work)
        shutil.copy(PLUGINS / "probe.so", self.work / "unseen.so")
        self.assertNotIn("probe", self.complete("run", "pro"))
        self.kymo("list")
        self.assertIn("probe", self.complete("run", "pro"))

    def test_it_takes_little_longer_than_starting_the_program(self):
        def seconds(*words):
            begin = time.perf_counter()
            subprocess.run([KYMO, *words], cwd=self.work, env=self.environment, capture_output=True, check=True)
            return time.perf_counter() - begin

        completing, starting = zip(
            *((seconds(*COMPLETE, "run", "saxpy", "--set", "precision="), seconds("--version")) for _ in range(20)),
            strict=True,
        )
        self.assertLess(min(completing), 5 * min(starting))

    def bash(self, line, *words):
        command = ["bash", "--norc", "-c", BASH, "bash", line, *words]
        done = subprocess.run(command, cwd=self.work, env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash(self):
        self.assertEqual(self.bash("kymo run sax", "kymo", "run", "sax"), ["saxpy"])
        # bash splits words at = and :, and replaces only the last part.
        line = "kymo run saxpy --set precision="
        self.assertEqual(self.bash(line, *line[:-1].split(), "="), ["fp32", "fp64"])
        self.assertEqual(self.bash(line + "fp3", *line[:-1].split(), "=", "fp3"), ["fp32"])
        self.assertEqual(self.bash("kymo ab saxpy:pr", "kymo", "ab", "saxpy", ":", "pr"), ["precision="])
        for name in ("a.db", "b.txt"):
            (self.work / name).touch()
        (self.work / "folder").mkdir()
        self.assertEqual(sorted(self.bash("kymo runs --db ", "kymo", "runs", "--db", "")), ["a.db", "folder"])
        self.assertEqual(self.bash("kymo run --no-v", "kymo", "run", "--no-v"), ["--no-verify"])
        self.assertIn("'kymo completion' takes bash, zsh or fish", self.kymo("completion", "csh", code=2).stderr)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        def fish(line):
            script = f"kymo completion fish | source; complete -C '{line}'"
            command = ["fish", "--no-config", "-c", script]
            found = subprocess.check_output(command, cwd=self.work, env=self.environment, text=True)
            return [each.split("\t")[0] for each in found.splitlines()]

        self.assertEqual(fish("kymo run sax"), ["saxpy"])
        self.assertEqual(fish("kymo run saxpy --set precision="), ["precision=fp32", "precision=fp64"])
        (self.work / "a.db").touch()
        self.assertEqual(fish("kymo runs --db "), ["a.db"])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        terminal, side = pty.openpty()
        environment = {**self.environment, "PS1": "ready> ", "TERM": "dumb"}
        streams = {"stdin": side, "stdout": side, "stderr": side}
        shell = subprocess.Popen(["zsh", "-f", "-i"], cwd=self.work, env=environment, start_new_session=True, **streams)
        os.close(side)
        self.addCleanup(os.close, terminal)
        self.addCleanup(shell.wait)
        self.addCleanup(shell.kill)
        seen = ""

        def answers(keys, expected):
            nonlocal seen
            os.write(terminal, keys.encode())
            seen, until = "", time.monotonic() + START_S
            while not re.search(expected, seen):
                self.assertLess(time.monotonic(), until, f"{keys!r} is answered by {seen!r}, not {expected!r}")
                if select.select([terminal], [], [], 1)[0]:
                    seen += os.read(terminal, 1 << 16).decode()

        folder = BUILD / "share" / "zsh" / "site-functions"
        answers(f"fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D; echo read''y\n", r"\nready\r")
        answers("kymo run sax\t", "saxpy ")
        answers("--set prec\t", "ision=")
        answers("\t", "fp")
        self.assertNotIn("precision=fp precision", seen)


if __name__ == "__main__":
    unittest.main()
