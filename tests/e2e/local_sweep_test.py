# SPDX-License-Identifier: Apache-2.0
"""Sweeps with --on local, and `kymo jobs`."""

import json
import os
import re
import signal
import unittest

from kymo_tool import KYMO, long_test
from sweep_tool import SweepTest

THIS_MACHINE = os.uname().nodename


class LocalSweepTest(SweepTest):
    on = "local"
    shards_of_sweeps = 3

    def test_the_shards_are_merged(self):
        out, err = self.ended(self.sweep(7), 0)
        self.expect_outcomes_of_a_single_run(7)
        self.expect_nothing_left()
        self.assertEqual(self.rows("SELECT count(*) FROM invocation"), [(3,)])
        self.assertIn("7 cases in 3 jobs", err)
        self.assertRegex(err, rf"shard 2: running, on {THIS_MACHINE}")
        self.assertRegex(out, rf"(?m)^ *1  ended  {THIS_MACHINE} +3/3 +0$")
        self.assertRegex(out, r"runs: 7 ok; results: \S+/kymo.db\n$")

    def test_a_suite_is_divided(self):
        (self.work / "suite.toml").write_text(
            '[[case]]\nname = "one"\nworkload = "probe"\naxes = { sleep = [1, 2, 3] }\nsteps = 2\n', encoding="utf-8"
        )
        self.environment["KYMO_PLUGIN_PATH"] = str(self.command(1)[1].parent)
        suite = ("suite", "run", "suite.toml", "--device", "cpu", "--on=local", "--shards=2", "--json")
        out, _ = self.ended(self.start(KYMO, *suite), 0)
        self.assertEqual(json.loads(out)["statuses"], {"ok": 3})
        self.assertEqual(self.rows("SELECT DISTINCT suite, suite_case FROM run"), [("work", "one")])

    def test_no_more_shards_than_cases(self):
        out, _ = self.ended(self.sweep(2, "--json"), 0)
        self.assertEqual([shard["shard"] for shard in json.loads(out)["shards"]], ["1", "2"])

    def test_failed_runs_are_the_exit_code(self):
        words = ("--axis", "fail_at=-1,1")
        out, _ = self.ended(self.sweep(2, *words), 3)
        self.assertIn("runs: 2 failed, 2 ok;", out)
        self.expect_outcomes_of_a_single_run(2, *words, code=3)
        self.expect_nothing_left()

    def test_resume_skips_what_is_in_the_database(self):
        self.kymo(*self.command(2))
        out, _ = self.ended(self.sweep(5, "--resume"), 0)
        self.assertIn("runs: 3 ok;", out)
        self.expect_outcomes_of_a_single_run(5)
        self.assertEqual(self.rows("SELECT count(*) FROM run"), [(5,)])
        out, _ = self.ended(self.sweep(5, "--resume"), 0)
        self.assertIn("runs: none;", out)
        self.assertEqual(self.rows("SELECT count(*) FROM run"), [(5,)])
        self.expect_nothing_left()

    def test_the_results_of_a_killed_shard_are_merged_and_resumed(self):
        sweep = self.sweep(6, **self.hold(step=1))
        shard = self.until_running(1, sweep)
        os.kill(shard, signal.SIGKILL)
        self.release()
        out, err = self.ended(sweep, 3)
        self.assertRegex(out, r"(?m)^ *1  killed by SIGKILL")
        self.assertIn("shard 1 of 3 not complete: run the command again with --resume", err)
        self.assertEqual(self.rows("SELECT status, count(*) FROM run GROUP BY 1"), [("interrupted", 1), ("ok", 4)])
        self.ended(self.sweep(6, "--resume"), 0)
        self.expect_outcomes_of_a_single_run(6)
        self.assertEqual(self.rows("SELECT count(*) FROM run"), [(7,)])
        self.expect_nothing_left()

    @long_test
    def test_what_a_killed_job_left_on_this_machine_is_merged(self):
        sweep = self.sweep(6, **self.hold(step=1))
        shard = self.until_running(1, sweep)
        self.kill_with_job(shard)
        self.release()
        self.ended(sweep, 3)
        self.assertEqual(self.rows("SELECT status, count(*) FROM run GROUP BY 1"), [("interrupted", 1), ("ok", 4)])
        self.ended(self.sweep(6, "--resume"), 0)
        self.expect_outcomes_of_a_single_run(6)
        self.expect_nothing_left()

    def test_ctrl_c_cancels_and_merges(self):
        sweep = self.sweep(6, **self.hold())
        self.until_running(1, sweep)
        os.killpg(sweep.pid, signal.SIGINT)
        self.release_when_signalled(1, "SIGTERM", sweep)
        out, err = self.ended(sweep, 130)
        self.assertIn("cancelling the jobs", err)
        self.assertIn("shards 1, 2, 3 of 3 not complete", err)
        self.assertRegex(out, r"(?m)^ *1  interrupted")
        self.assertRegex(out, r"(?m)^ *2  not started")
        # Its step is completed, and may have been the last one that was missing.
        self.assertIn(self.rows("SELECT status FROM run"), ([("interrupted",)], [("ok",)]))
        self.ended(self.sweep(6, "--resume"), 0)
        self.expect_outcomes_of_a_single_run(6)
        self.expect_nothing_left()

    @long_test
    def test_jobs_survive_the_command_that_started_them(self):
        sweep = self.sweep(4, "--on-option", "array_parallelism=3", **self.hold())
        self.until(lambda: len(self.shards()) == 3, [sweep])
        sweep.kill()
        sweep.wait()
        (listed,) = self.kymo_json("jobs", "list")
        self.assertEqual((listed["on"], listed["jobs"], listed["cases"]), ("local", {"running": 3}, 4))
        self.assertRegex(self.kymo("jobs", "list").stdout, rf"(?m)^{listed['sweep']} .* local  3 running")
        error = self.ended(self.sweep(4, "--resume"), 2)[1]
        self.assertIn(f"jobs of sweep {listed['sweep']} still run", error)
        self.release()
        out = self.kymo("jobs", "wait").stdout
        self.assertIn("runs: 4 ok;", out)
        self.expect_outcomes_of_a_single_run(4)
        self.expect_nothing_left()
        self.assertEqual(self.kymo("jobs", "list").stdout, "no sweeps\n")

    def test_jobs_can_be_cancelled(self):
        sweep = self.sweep(4, **self.hold())
        self.until_running(1, sweep)
        (listed,) = self.kymo_json("jobs", "list")
        self.assertIn("no sweep 'other'", self.kymo("jobs", "cancel", "other", code=2).stderr)
        self.assertIn("already waits", self.kymo("jobs", "wait", code=2).stderr)
        self.assertIn("are cancelled", self.kymo("jobs", "cancel", listed["sweep"]).stderr)
        self.release_when_signalled(1, "SIGTERM", sweep)
        self.ended(sweep, 3)
        self.assertEqual(self.rows("SELECT count(*) FROM run"), [(1,)])
        self.ended(self.sweep(4, "--resume"), 0)
        self.expect_nothing_left()

    @long_test
    def test_a_copy_of_the_database_is_kept_between_runs(self):
        words = ("--saved-copy", "copy.db", "--resume")
        run = self.start(KYMO, *self.command(3, *words), **self.hold(step=1))
        self.until(lambda: self.processes("worker"), [run])
        self.assertEqual(
            json.loads((self.work / "copy.db.progress").read_text()), {"finished": 0, "runs": 3, "not_ok": 0}
        )
        self.release()
        self.ended(run, 0)
        self.assertEqual(
            json.loads((self.work / "copy.db.progress").read_text()), {"finished": 3, "runs": 3, "not_ok": 0}
        )
        # Made after the first run; the next one would be 30 s later.
        self.assertEqual(self.kymo_json("runs", "--db", "copy.db")[0]["status"], "ok")

    def test_usage_errors_start_nothing(self):
        on = ("--on", "local")
        for words, message in (
            (("--shards", "2"), "--shards needs --on"),
            (("--on-option", "time=1"), "--on-option needs --on"),
            (("--on", "pbs"), "takes slurm or local"),
            ((*on, "--shard", "1/2"), "--on and --shard are mutually exclusive"),
            ((*on, "--on-option", "array=1-4"), "--on-option array: kymo sets this option itself"),
            ((*on, "--on-option", "time=soon"), "--on-option time takes"),
            ((*on, "--on-option", "array_parallelism=0"), "array_parallelism takes"),
            ((*on, "--axis", "label=a", "--set", "nonsense=1"), "nonsense"),
        ):
            with self.subTest(words=words):
                error = self.kymo(*self.command(2, *words), code=2).stderr
                self.assertIn(message, error)
                self.assertEqual(error.count("\n"), 1, error)
        self.assertEqual(list(self.work.iterdir()), [])
        error = self.kymo(*self.command(2, *on, "--db", "missing/kymo.db"), code=2).stderr
        self.assertIn("cannot create the folder", error)
        (self.work / "kymo.db").write_text("notes", encoding="utf-8")
        error = self.kymo(*self.command(2, *on), code=1).stderr
        self.assertIn("not an SQLite database", error)
        self.assertEqual([path.name for path in self.work.iterdir()], ["kymo.db"])

    def test_submitit_is_optional(self):
        python = self.work / "python"
        python.write_text('#!/bin/sh\nexec python3 -S "$@"\n', encoding="utf-8")
        python.chmod(0o755)
        error = self.kymo(*self.command(2, "--on", "local", "--python", python), code=2).stderr
        self.assertRegex(error, r"--on local needs the Python package submitit: run '\S+ -m pip install submitit'")

    def test_the_plan_is_that_of_one_machine(self):
        plan = self.kymo(*self.command(4, "--on", "local", "--shards", "2", "--plan")).stdout
        self.assertEqual(len(re.findall(r"sleep=", plan)), 4)


if __name__ == "__main__":
    unittest.main()
