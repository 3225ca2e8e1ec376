# SPDX-License-Identifier: Apache-2.0
"""Errors while a pass observes affect only that pass: they are reported and counted, and earlier measurements are
kept."""

import os
import shutil
import signal
import subprocess
import unittest

from fault_tool import BAD, FaultTest, damage_of, wait_until
from kymo_tool import HANG_S, KYMO, OBSERVED, needs_torch_parts
from small_model import CASE

FAILS = BAD / "fails_observed.so"
THREADS = BAD / "many_threads.so"
METHOD = ["--warmup", "1", "--steps", "4", "--observed-steps", "3"]
KIB = 1024


class ObservedFaultTest(FaultTest):
    def run_facts(self, run_id=1):
        return self.records(
            "SELECT status, detail, failed_pass, failed_step, signal, verification FROM run WHERE run_id = ?", run_id
        )[0]

    def check_time_pass(self, run_id=1, steps=4):
        """Checks that the samples of the time pass and the statistics derived from them are present."""
        self.assertEqual(self.rows("SELECT status FROM rank WHERE run_id = ? AND pass = 'time'", run_id), [("ok",)])
        self.assertEqual(
            self.rows(
                "SELECT count(*) FROM sample WHERE run_id = ? AND pass = 'time' AND phase = 'step' AND NOT warmup",
                run_id,
            ),
            [(steps,)],
        )
        self.assertEqual(
            self.rows("SELECT count FROM statistic WHERE run_id = ? AND phase = 'step' AND clock = 'host'", run_id),
            [(steps,)],
        )

    def dropped_records(self, run_id=1):
        return self.records(
            "SELECT pass, source, count, detail FROM dropped_record WHERE run_id = ? ORDER BY pass, sequence", run_id
        )


class EndTest(ObservedFaultTest):
    def fail(self, how, name, code):
        self.kymo(
            "run", FAILS, "--set", f"how={how}", "--passes", f"time,{name}", *METHOD, "--timeout", "60", code=code
        )
        return self.rows("SELECT max(run_id) FROM run")[0][0]

    def test_the_worker_ends_by_a_signal(self):
        for name in OBSERVED:
            for how, number in (("segv", signal.SIGSEGV), ("kill", signal.SIGKILL)):
                with self.subTest(name=name, how=how):
                    run_id = self.fail(how, name, 3)
                    found = self.run_facts(run_id)
                    self.assertEqual(
                        (found["status"], found["failed_pass"], found["signal"]), ("crashed", name, number)
                    )
                    self.assertIn(f"pass {name}", found["detail"])
                    self.assertEqual(
                        self.rows("SELECT status FROM rank WHERE run_id = ? AND pass = ?", run_id, name), [("crashed",)]
                    )
                    self.check_time_pass(run_id)

    def test_the_step_fails(self):
        for name in OBSERVED:
            with self.subTest(name=name):
                run_id = self.fail("throw", name, 3)
                found = self.run_facts(run_id)
                self.assertEqual((found["status"], found["failed_pass"], found["failed_step"]), ("failed", name, 1))
                self.assertIn("thrown on purpose while observed", found["detail"])
                self.check_time_pass(run_id)
                # The previous step and the scope of the failure are recorded.
                self.assertEqual(
                    self.rows(
                        """SELECT g.step, n.text, g.end_ns IS NULL FROM range g JOIN string n ON n.string_id = g.name_id
                                              WHERE g.run_id = ? AND g.pass = ? ORDER BY g.sequence""",
                        run_id,
                        name,
                    ),
                    [(step, text, 0) for step in (0, 1) for text in ("compute", "part", "last")],
                )

    def test_out_of_memory(self):
        run_id = self.fail("oom", "trace", 0)
        self.assertEqual((self.run_facts(run_id)["status"], self.run_facts(run_id)["failed_pass"]), ("oom", "trace"))
        self.assertEqual(
            self.rows("SELECT pass, location FROM out_of_memory WHERE run_id = ?", run_id), [("trace", "host")]
        )
        self.check_time_pass(run_id)

    def test_no_progress(self):
        self.kymo(
            "run",
            FAILS,
            "--set",
            "how=hang",
            "--set",
            f"pid_file={self.folder}/pid",
            "--passes",
            "time,trace",
            *METHOD,
            "--timeout",
            "5",
            code=3,
        )
        self.assertEqual((self.run_facts()["status"], self.run_facts()["failed_pass"]), ("timeout", "trace"))
        self.check_time_pass()

    def start_and_hang(self, name):
        """A run that hangs in an observed pass, and the process id of its worker."""
        number = self.folder / "pid"
        process = self.start(
            "run",
            FAILS,
            "--set",
            "how=hang",
            "--set",
            f"pid_file={number}",
            "--passes",
            f"time,{name}",
            *METHOD,
            "--timeout",
            "100",
        )
        self.assertTrue(
            wait_until(lambda: number.exists() and number.read_text().endswith("\n")), "the observed pass did not begin"
        )
        return process, int(number.read_text())

    def test_the_worker_is_killed(self):
        process, worker = self.start_and_hang("trace")
        os.kill(worker, signal.SIGKILL)
        process.communicate(timeout=HANG_S)
        self.assertEqual(process.returncode, 3)
        found = self.run_facts()
        self.assertEqual((found["status"], found["failed_pass"], found["signal"]), ("crashed", "trace", signal.SIGKILL))
        self.check_time_pass()

    def test_ctrl_c(self):
        process, _ = self.start_and_hang("memory")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=HANG_S)
        self.assertEqual(process.returncode, 130)
        self.assertEqual((self.run_facts()["status"], self.run_facts()["failed_pass"]), ("interrupted", "memory"))
        self.check_time_pass()

    def test_the_tool_is_killed(self):
        """The next start imports the results of the time pass."""
        process, _ = self.start_and_hang("ops")
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=HANG_S)
        self.assertTrue(wait_until(lambda: not self.left_running()), "a worker outlived the tool")
        self.kymo("run", BAD / "raw_valid.so", "--warmup", "0", "--steps", "1", "--no-verify")
        self.assertEqual(self.run_facts()["status"], "interrupted")
        self.assertEqual(
            self.rows(
                "SELECT count(*) FROM sample WHERE run_id = 1 AND pass = 'time' AND phase = 'step' AND NOT warmup"
            ),
            [(4,)],
        )
        self.assertEqual(self.scratch_folders(), [])

    @needs_torch_parts
    def test_libtorch_is_out_of_memory(self):
        self.kymo("run", THREADS, "--device", "cpu", "--set", "too_much_at=2", "--passes", "time,memory", *METHOD)
        self.assertEqual(
            (self.run_facts()["status"], self.run_facts()["failed_pass"], self.run_facts()["failed_step"]),
            ("oom", "memory", 2),
        )
        self.assertEqual(
            self.rows("SELECT pass, location, requested_bytes FROM out_of_memory"), [("memory", "host", 1 << 58)]
        )
        self.check_time_pass()
        # The cause is recorded.
        self.assertEqual(
            self.rows("SELECT DISTINCT step FROM allocation WHERE step >= 0 ORDER BY step"), [(0,), (1,), (2,)]
        )
        self.assertGreater(self.rows("SELECT count(*) FROM memory_point")[0][0], 10)


class BoundTest(ObservedFaultTest):
    def test_more_scopes_than_are_kept(self):
        scopes, most = 1_100_000, 1_000_000
        self.kymo("run", FAILS, "--set", f"scopes={scopes}", "--passes", "time,trace", "--warmup", "0", "--steps", "1")
        self.assertEqual(self.run_facts()["status"], "ok")
        self.assertEqual(self.rows("SELECT count(*) FROM range"), [(most,)])
        (dropped,) = self.dropped_records()
        # In addition, a step has its phase and one more scope.
        self.assertEqual((dropped["pass"], dropped["source"], dropped["count"]), ("trace", "scope", scopes + 2 - most))

    @needs_torch_parts
    def test_more_events_than_memory(self):
        case = [*CASE, "--warmup", "1", "--steps", "40", "--observed-steps", "40", "--passes", "time,memory,ops"]
        self.kymo("run", *case)
        self.kymo("run", *case, "--trace-memory", "1Mi")
        self.assertEqual(self.rows("SELECT status FROM run"), [("ok",), ("ok",)])
        self.assertEqual(self.dropped_records(1), [])
        dropped = {
            (record["pass"], record["detail"].split(" beyond")[0]): record["count"]
            for record in self.dropped_records(2)
        }
        self.assertLessEqual({("ops", "operator calls"), ("memory", "memory events")}, dropped.keys())
        ops = dict(self.rows("SELECT run_id, count(*) FROM op GROUP BY run_id"))
        self.assertGreater(ops[2], 500)
        self.assertEqual(ops[2] + dropped["ops", "operator calls"], ops[1])
        events = dict(
            self.rows(
                "SELECT run_id, 1 + max(max(sequence), max(coalesce(free_sequence, 0))) FROM allocation GROUP BY run_id"
            )
        )
        # A free produces two events, but rows report only the first: the last event of either run may be a second one.
        self.assertAlmostEqual(events[2] + dropped["memory", "memory events"], events[1], delta=1)
        # Ranges have a separate limit, so steps are complete.
        self.assertEqual(
            *(self.rows("SELECT count(*) FROM range WHERE run_id = ? AND pass = 'ops'", run_id) for run_id in (1, 2))
        )
        self.kymo("report", "quick", "--format", "markdown", "--out", "report")
        text = next((self.work / "report").rglob("*.md")).read_text(encoding="utf-8")
        self.assertIn("Runs with dropped records", text)
        self.assertIn("beyond the memory limit of", text)


class DiskTest(ObservedFaultTest):
    def bounded(self, limit, code, *words):
        self.kymo(
            "run",
            FAILS,
            "--set",
            "scopes=20000",
            "--set",
            f"file_limit={limit}",
            "--passes",
            "time,trace",
            *METHOD,
            *words,
            code=code,
        )

    def test_room_for_figures_alone(self):
        """The events do not fit on the disk: they are dropped and counted, the rest of the pass is stored."""
        self.bounded(2000 * KIB, 0)
        self.assertEqual((self.run_facts()["status"], self.run_facts()["detail"]), ("ok", ""))
        self.check_time_pass()
        self.assertEqual(self.rows("SELECT count(*) FROM range"), [(0,)])
        self.assertEqual(self.rows("SELECT count(*) FROM sample WHERE pass = 'trace' AND phase = 'step'"), [(4,)])
        self.assertEqual(self.rows("SELECT pass FROM overhead WHERE phase = 'step'"), [("trace",)])
        (dropped,) = self.dropped_records()
        self.assertEqual((dropped["pass"], dropped["source"], dropped["count"]), ("trace", "store", 4 * 20_002))
        self.assertRegex(dropped["detail"], r"range 80008\b.*RUN-1-0-trace\.kymo.*free space, file size limits")

    def test_no_room_at_all(self):
        self.bounded(64 * KIB, 3)
        found = self.run_facts()
        self.assertEqual((found["status"], found["failed_pass"]), ("failed", "trace"))
        self.assertRegex(found["detail"], r"RUN-1-0-trace\.kymo.*free space, file size limits")
        self.assertNotIn("\n", found["detail"])
        self.check_time_pass()
        self.assertEqual(self.rows("SELECT count(*) FROM sample WHERE pass = 'trace'"), [(0,)])
        self.assertEqual(self.scratch_folders(), [])

    @needs_torch_parts
    @unittest.skipIf(shutil.which("unshare") is None, "there is no unshare")
    def test_a_disk_that_is_really_full(self):
        disk = self.folder / "disk"
        disk.mkdir()
        script = (
            'mount -t tmpfs -o size=$0 tmpfs "$1" || exit 99; cd "$1"; shift; "$@"; code=$?; '
            'cp kymo.db "$OLDPWD"; exit $code'
        )
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        words = ["run", *CASE, "--warmup", "1", "--steps", "100", "--observed-steps", "100", "--passes", "time,ops"]
        done = subprocess.run(
            ["unshare", *user, "--mount", "sh", "-c", script, "6m", str(disk), str(KYMO), *words],
            env=self.environment,
            cwd=self.work,
            capture_output=True,
            text=True,
            timeout=HANG_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode == 99 or "unshare" in done.stderr:
            self.skipTest("a small disk cannot be mounted here")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(damage_of(self.database), [])
        self.assertEqual(self.run_facts()["status"], "ok")
        self.check_time_pass(steps=100)
        dropped = [record for record in self.dropped_records() if record["source"] == "store"]
        self.assertEqual([record["pass"] for record in dropped], ["ops"], self.dropped_records())
        self.assertRegex(dropped[0]["detail"], r"op \d+.*disk is full")
        self.assertEqual(self.rows("SELECT count(*) FROM op"), [(0,)])
        self.assertGreater(self.rows("SELECT count(*) FROM op_total")[0][0], 100)


if __name__ == "__main__":
    unittest.main()
