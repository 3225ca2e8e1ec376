# SPDX-License-Identifier: Apache-2.0
"""kill -9 of kymo, at a known time and at twenty random times."""

import random
import signal
import unittest

import kill_sweep
from fault_tool import BAD, FaultTest, damage_of, wait_until
from kymo_tool import HANG_S

LONG = ["--warmup", "0", "--steps", "100000", "--no-verify", "--timeout", str(HANG_S)]
SHORT = ["--warmup", "0", "--steps", "2", "--no-verify"]


class KillTest(FaultTest):
    def status_of_first(self):
        return self.rows("SELECT status, detail FROM run WHERE run_id = 1")[0]

    def start_long_run(self, *words):
        process = self.start("run", BAD / "probe.so", "--set", "sleep=1000", "--ranks", "2", *LONG, *words)
        self.assertTrue(
            wait_until(lambda: self.database.exists() and len(self.left_running()) >= 4), "no workers appeared"
        )
        return process

    def test_workers_die_with_the_tool_and_the_next_start_says_so(self):
        process = self.start_long_run()
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=HANG_S)
        self.assertTrue(wait_until(lambda: not self.left_running()), "workers outlived the tool")
        self.assertEqual(damage_of(self.database), [])
        self.assertEqual(self.status_of_first()[0], "running")
        self.kymo("run", BAD / "raw_valid.so", *SHORT)
        status, detail = self.status_of_first()
        self.assertEqual(status, "interrupted")
        self.assertIn("killed", detail)
        self.assertEqual(self.scratch_folders(), [])

    def detaching(self):
        """Options for workers that start a process in a session of its own."""
        script = self.work / "detaching"
        started = 'until [ "$(cat /proc/$!/comm)" = sleep ]; do sleep 0.01; done'  # setsid replaces itself
        script.write_text(f'#!/bin/sh\nsetsid sleep 600 &\n{started}\nexec "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        return ["--wrap", script]

    def test_detached_processes_do_not_outlive_a_run(self):
        self.kymo("run", BAD / "raw_valid.so", *SHORT, "--repeat", "2", *self.detaching())
        self.assertEqual(
            self.rows("SELECT run_id, detail FROM run_warning WHERE kind = 'detached processes' ORDER BY run_id"),
            [
                (run_id, "1 process left the process group of the worker and outlived it (time), and was killed: sleep")
                for run_id in (1, 2)
            ],
        )

    def test_detached_processes_die_with_the_tool(self):
        process = self.start_long_run(*self.detaching())
        self.assertTrue(wait_until(lambda: len(self.left_running()) >= 6), "no detached processes appeared")
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=HANG_S)
        self.assertTrue(wait_until(lambda: not self.left_running()), "processes outlived the tool")

    def test_a_live_tool_is_left_alone(self):
        process = self.start_long_run()
        self.wait_for_steps(process, workers=2)
        self.kymo("run", BAD / "raw_valid.so", *SHORT)
        self.assertEqual(self.status_of_first()[0], "running")
        self.assertEqual(len(self.scratch_folders()), 1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=HANG_S)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.status_of_first()[0], "interrupted")
        self.assertGreater(self.rows("SELECT count(*) FROM sample WHERE run_id = 1")[0][0], 0)

    def test_random_moments(self):
        seed = random.randrange(1 << 30)
        wrong, statuses = kill_sweep.sweep(20, seed)
        self.assertEqual(wrong, [], f"seed {seed}")
        self.assertGreater(statuses.get("ok", 0), 0)


if __name__ == "__main__":
    unittest.main()
