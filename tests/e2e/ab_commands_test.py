# SPDX-License-Identifier: Apache-2.0
"""`kymo ab` of whole commands: they are executed in turn, and their wall and processor times compared."""

import json
import os
import signal
import subprocess
import unittest

from kymo_tool import HANG_S, KYMO, KymoTest

# They differ by far more than other work on the machine delays them.
SHORT, LONG = "sleep 0.01", "sleep 2"


class AbCommandsTest(KymoTest):
    def ab(self, *words, max_time=1, code=0):
        """The first round is always completed."""
        return json.loads(self.kymo("ab", *words, "--json", "--max-time", max_time, code=code).stdout)

    def test_a_verdict(self):
        done = self.kymo("ab", SHORT, LONG, "--max-time", "600", "--warmup", "0")
        self.assertRegex(done.stdout, r"sleep 2 takes [\d.]+ times as long as sleep 0\.01")
        self.assertIn(" by the median wall time (95 % interval ", done.stdout)
        runs = self.rows("SELECT workload, label, repetition, status, passes, timing FROM run ORDER BY run_id")
        order = [(SHORT, 0), (LONG, 0), (LONG, 1), (SHORT, 1)]
        self.assertEqual(runs[:4], [(word, word, each, "ok", "time", "sync") for word, each in order])
        self.assertEqual(self.rows("SELECT DISTINCT host_ns >= 2000000000 FROM sample WHERE run_id = 2"), [(1,)])
        self.assertIn("sleep 2", self.kymo("runs").stdout)

    def test_the_same_command(self):
        found = self.ab("sleep 0.5", "sleep 0.5", "--margin", "99%", max_time=600)
        (pair,) = found["pairs"]
        self.assertEqual((pair["verdict"], pair["first"], pair["second"]), ("SAME", "sleep 0.5 #1", "sleep 0.5 #2"))
        self.assertEqual((found["shell"], found["ended_by"]), (False, "verdict"))
        self.assertGreater(found["candidates"][0]["time_ns"], 500e6)

    def test_processor_time_and_memory(self):
        """A command that computes less long than the other one sleeps takes more processor time."""
        busy = "python3 -c 'import time; x = bytes([1]) * 10 ** 8\nwhile time.process_time() < .1: pass'"
        found = self.ab(LONG, busy, max_time=600)
        (pair,) = found["pairs"]
        self.assertEqual((pair["verdict"], pair["processor"]["verdict"]), ("FASTER", "SLOWER"), pair)
        self.assertIn(" by the mean processor time", pair["processor"]["sentence"])
        (computing,) = (each for each in found["candidates"] if each["candidate"] == busy)
        self.assertGreater(computing["processor_ns"], 0.1e9)
        self.assertGreater(computing["resident_peak_bytes"], 10**8)

    def test_a_command_that_fails(self):
        words = ["sh -c 'echo first >&2; echo why >&2; exit 4'", "sleep 0.01"]
        done = self.kymo("ab", *words, code=3)
        self.assertIn("ended with exit code 4: first | why", done.stderr)
        self.assertIn("sh -c 'echo first", done.stderr)
        self.assertEqual(self.ab(*words, "--ignore-failure")["exit_code"], 0)

    def test_preparation_is_executed_before_each_execution_and_not_timed(self):
        prepare = "sleep 0.2; test ! -e prepared && touch prepared"
        self.ab("rm prepared", "rm ./prepared", "--prepare", prepare, "--min-time", "0.001")
        self.assertEqual(self.rows("SELECT DISTINCT value FROM param"), [(prepare,)])
        self.assertLess(self.rows("SELECT min(host_ns) FROM sample")[0][0], 200e6)
        self.assertEqual(set(self.rows("SELECT status FROM run")), {("ok",)})

    def test_a_shell_only_where_one_is_needed(self):
        found = self.ab("echo a | cat", "sleep 0", "--output", "store")
        self.assertTrue(found["shell"])
        self.assertIn("a\n", self.kymo("log", "1").stdout)
        self.assertIn("run by sh", self.kymo("ab", "true; true", "sleep 0", "--max-time", "1").stdout)

    def test_labels_that_look_like_files(self):
        """A candidate may be a path, which is the label of its runs."""
        for name in ("old", "new"):
            (self.work / name).write_text("#!/bin/sh\n")
            (self.work / name).chmod(0o755)
        self.ab("./old", "./new", "--command")
        done = self.kymo("compare", "./old", "./new")
        self.assertIn("only before", done.stdout)
        self.assertIn("no case has runs on both sides", done.stderr)

    def test_a_program_without_option(self):
        done = self.kymo("ab", "ls", "cat", code=2)
        self.assertIn("no workload 'ls'", done.stderr)
        self.assertIn("to time the program of this name, pass --command", done.stderr)
        self.assertIn("did you mean 'saxpy'?", self.kymo("ab", "saxpi", "saxpy", code=2).stderr)

    def test_ctrl_c_ends_the_command_and_shows_what_is_known(self):
        """The second candidate interrupts kymo in its third execution, and would then sleep for too long."""
        script = "echo x >> count; test $(wc -l < count) -lt 3 || { kill -INT $PPID; exec sleep 900; }"
        words = ["ab", "sleep 0.01", script, "--warmup", "0", "--min-time", "0.0001", "--max-time", "900"]
        process = subprocess.Popen(
            [str(KYMO), *words],
            cwd=self.work,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        out, err = process.communicate(timeout=HANG_S)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, err)
        self.assertIn("interrupted after 2 runs each", out)
        self.assertIn("no verdict: ", out)
        self.assertNotIn("maximum", out)
        self.assertEqual(self.rows("SELECT status FROM run ORDER BY run_id DESC LIMIT 1"), [("interrupted",)])
        self.assertFalse((self.work / "kymo.db.scratch").exists() and os.listdir(self.work / "kymo.db.scratch"))


if __name__ == "__main__":
    unittest.main()
