# SPDX-License-Identifier: Apache-2.0
"""The first Ctrl-C stops after the current step, the second immediately; SIGTERM, SIGHUP and a closed terminal do the
same with other exit codes. Ctrl-Z suspends a run."""

import fcntl
import math
import os
import pty
import signal
import subprocess
import termios
import time
import unittest

from fault_tool import BAD, FaultTest, wait_until
from kymo_tool import HANG_S, KYMO

LONG = ["--warmup", "0", "--steps", "100000", "--no-verify", "--timeout", str(HANG_S)]


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0]


class SignalTest(FaultTest):
    def timeout_s(self):
        """A --timeout that a run with short steps does not reach on a machine as busy as this."""
        began = time.monotonic()
        short = ["--ranks", "2", "--steps", "1", "--no-verify", "--db", self.folder / "other.db"]
        self.kymo("run", BAD / "probe.so", *short)
        for each in self.begun.iterdir():
            each.unlink()
        return math.ceil(max(4, 5 * (time.monotonic() - began)))

    def running(self, *words, workers=1):
        """Starts a run and waits until its workers are measuring."""
        process = self.start("run", *words)
        self.wait_for_steps(process, workers)
        return process

    def end(self, process, code):
        out, err = process.communicate(timeout=HANG_S)
        self.assertEqual(process.returncode, code, f"{out}\n{err}")
        return out, err

    def test_once(self):
        process = self.running(BAD / "probe.so", "--axis", "sleep=1000,2000", *LONG)
        process.send_signal(signal.SIGINT)
        out, err = self.end(process, 130)
        self.assertIn("interrupted", out)
        self.assertIn("SIGINT: stopping after the current step", err)
        self.assertEqual(
            self.rows("SELECT status, detail FROM run"), [("interrupted", self.rows("SELECT detail FROM run")[0][0])]
        )
        self.assertGreater(self.rows("SELECT count(*) FROM sample")[0][0], 0)
        self.assertEqual(self.rows("SELECT exit_code FROM invocation"), [(130,)])
        self.assertEqual(self.scratch_folders(), [])

    def test_terminated(self):
        process = self.running(BAD / "probe.so", "--set", "sleep=1000", *LONG)
        process.send_signal(signal.SIGTERM)
        self.end(process, 143)
        self.assertEqual(self.rows("SELECT status FROM run"), [("interrupted",)])

    def test_hung_up(self):
        process = self.running(BAD / "probe.so", "--set", "sleep=1000", *LONG)
        process.send_signal(signal.SIGHUP)
        _, err = self.end(process, 129)
        self.assertIn("SIGHUP: stopping after the current step", err)
        self.assertEqual(self.rows("SELECT status FROM run"), [("interrupted",)])

    def test_a_closed_terminal_ends_the_run(self):
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [str(KYMO), "run", str(BAD / "probe.so"), "--set", "sleep=1000", *LONG],
            cwd=self.work,
            env=self.environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self.addCleanup(process.wait, timeout=HANG_S)
        self.addCleanup(process.kill)
        os.close(slave)
        self.wait_for_steps(process)
        os.close(master)
        self.assertEqual(process.wait(timeout=HANG_S), 129)
        self.assertEqual(self.rows("SELECT status FROM run"), [("interrupted",)])
        self.assertGreater(self.rows("SELECT count(*) FROM sample")[0][0], 0)
        self.assertEqual(self.rows("SELECT exit_code FROM invocation"), [(129,)])
        self.assertEqual(self.scratch_folders(), [])

    def test_ctrl_z_suspends_the_run(self):
        timeout_s = self.timeout_s()
        process = self.running(
            BAD / "probe.so",
            *["--set", "sleep=200000", "--ranks", "2", "--warmup", "0", "--steps", "12", "--no-verify"],
            *["--timeout", timeout_s],
            workers=2,
        )

        def stopped():
            states = [state_of(pid) for pid in self.left_running()]
            return states.count("T") == 3  # all but the reaper

        os.killpg(process.pid, signal.SIGTSTP)
        self.assertTrue(wait_until(stopped), "kymo and its two workers were not stopped")
        time.sleep(1.5 * timeout_s)
        self.assertTrue(stopped())
        process.send_signal(signal.SIGCONT)
        self.end(process, 0)
        self.assertEqual(self.rows("SELECT status, detail FROM run"), [("ok", "")])
        ((longest_ns, count, excluded),) = self.rows(
            "SELECT max_ns, count, excluded FROM statistic WHERE phase = 'step' AND clock = 'host'"
        )
        self.assertLess(longest_ns, 1.5e9 * timeout_s, "the suspended step counts")
        self.assertEqual(count + excluded, 12)
        self.assertIn(excluded, (1, 2))
        kinds = self.rows("SELECT kind FROM run_warning WHERE kind IN ('suspended', 'throttled')")
        self.assertEqual(kinds, [("suspended",)])

    def test_a_suspended_run_can_be_killed(self):
        process = self.running(BAD / "probe.so", "--set", "sleep=1000", *LONG)
        os.killpg(process.pid, signal.SIGTSTP)
        self.assertTrue(wait_until(lambda: state_of(process.pid) == "T"))
        process.kill()
        process.communicate(timeout=HANG_S)
        self.assertTrue(wait_until(lambda: not self.left_running()), "workers outlived kymo")

    def test_ranks_end_together(self):
        process = self.running(BAD / "probe.so", "--set", "sleep=1000", "--ranks", "3", *LONG, workers=3)
        process.send_signal(signal.SIGINT)
        self.end(process, 130)
        self.assertEqual(self.rows("SELECT status FROM rank ORDER BY rank"), [("interrupted",)] * 3)
        counts = [count for (count,) in self.rows("SELECT count(*) FROM sample WHERE phase = 'step' GROUP BY rank")]
        self.assertEqual(len(counts), 3)
        self.assertLessEqual(max(counts) - min(counts), 1)

    def test_twice(self):
        process = self.running(BAD / "hangs.so", "--set", "ignore_signals=true", *LONG)
        process.send_signal(signal.SIGINT)
        # Two signals at once may arrive as one.
        self.assertTrue(any("stopping after the current step" in line for line in process.stderr))
        process.send_signal(signal.SIGINT)
        self.end(process, 130)
        ((status, detail),) = self.rows("SELECT status, detail FROM run")
        self.assertEqual(status, "interrupted")
        self.assertNotIn("still running after", detail, "the second signal did not cut the grace short")

    def test_worker_that_ignores_a_signal_gets_a_grace_period(self):
        process = self.running(BAD / "hangs.so", *LONG)
        process.send_signal(signal.SIGINT)
        self.end(process, 130)
        self.assertRegex(
            self.rows("SELECT detail FROM run")[0][0], "interrupted by SIGINT; still running after 5 s: rank 0"
        )

    def test_a_stopped_tool_blames_nobody(self):
        """While kymo is stopped, its workers continue and their messages are unread; this must not be a timeout."""
        timeout_s = self.timeout_s()
        process = self.running(
            *[BAD / "probe.so", "--set", "sleep=1000", "--warmup", "0", "--steps", "2000", "--no-verify"],
            *["--timeout", timeout_s],
        )
        process.send_signal(signal.SIGSTOP)
        time.sleep(1.5 * timeout_s)
        process.send_signal(signal.SIGCONT)
        self.end(process, 0)
        self.assertEqual(self.rows("SELECT status FROM run"), [("ok",)])

    def test_no_further_runs(self):
        process = self.running(BAD / "probe.so", "--set", "sleep=1000", "--repeat", "5", *LONG)
        process.send_signal(signal.SIGINT)
        self.end(process, 130)
        self.assertEqual(self.rows("SELECT count(*) FROM run"), [(1,)])

    def test_ctrl_c_in_a_terminal_reaches_the_tool_alone(self):
        """The terminal signals the process group of kymo; workers have their own process groups."""
        process = self.running(BAD / "probe.so", "--set", "sleep=1000", *LONG)
        os.killpg(process.pid, signal.SIGINT)
        self.end(process, 130)
        self.assertEqual(self.rows("SELECT status, signal FROM run"), [("interrupted", None)])


if __name__ == "__main__":
    unittest.main()
