# SPDX-License-Identifier: Apache-2.0
"""Common parts of the tests of sweeps, whose shards are jobs of Slurm or of this machine."""

import json
import os
import signal
import sqlite3
from pathlib import Path

from kymo_tool import KYMO, rows_of
from launcher_tool import PROBE, LaunchTest

# The newest run of each case and repetition.
OUTCOMES = """
SELECT (SELECT group_concat(name || '=' || value) FROM param WHERE param.run_id = run.run_id), repetition, status, label
FROM run WHERE run_id IN (SELECT max(run_id) FROM run GROUP BY plan_key, repetition) ORDER BY 1, 2"""


class SweepTest(LaunchTest):
    on = ""  # the value of --on
    shards_of_sweeps = 1

    def command(self, cases, *words):
        """One case for each number of microseconds; the label has to be quoted."""
        return [
            *(
                "run",
                PROBE,
                "--device",
                "cpu",
                "--warmup",
                "0",
                "--steps",
                "2",
                "--no-verify",
                "--label",
                "it's a test",
            ),
            *("--axis", f"sleep=1..{cases}+1", *words),
        ]

    def sweep(self, cases, *words, shards=None, **variables):
        on = ("--on", self.on, "--shards", shards or self.shards_of_sweeps)
        return self.start(KYMO, *self.command(cases, *on, *words), **variables)

    def outcomes(self, database="kymo.db"):
        return rows_of(self.work / database, OUTCOMES)

    def expect_outcomes_of_a_single_run(self, cases, *words, code=0):
        self.kymo(*self.command(cases, "--db", "single.db", *words), code=code)
        self.assertEqual(self.outcomes(), self.outcomes("single.db"))

    def expect_nothing_left(self):
        self.assertEqual(self.rows("SELECT count(*) FROM run WHERE status = 'running'"), [(0,)])
        self.assertEqual([path.name for path in self.work.glob("kymo.db?*")], [])
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])
        self.assertEqual(self.shards(), {})

    def shards(self):
        """The process ids of the shards that kymo runs, by index."""
        found = {}
        for process in self.processes("--shard"):
            with open(f"/proc/{process}/cmdline", "rb") as cmdline:
                words = cmdline.read().split(b"\0")
            found[int(words[words.index(b"--shard") + 1].split(b"/")[0])] = process
        return found

    @staticmethod
    def kill_with_job(kymo):
        """Kill a shard as the loss of its machine does: no process has time for anything."""
        with open(f"/proc/{kymo}/stat", encoding="ascii") as stat:
            job = int(stat.read().rpartition(")")[2].split()[1])
        os.kill(job, signal.SIGSTOP)
        os.kill(kymo, signal.SIGKILL)
        os.kill(job, signal.SIGKILL)

    def attempts(self, shard):
        """The attempts to run a shard that the folder of the sweep states."""
        found = self.work.glob(f"kymo.db.jobs/*/shard-{shard}.json")
        return [attempt for path in found for attempt in json.loads(path.read_text(encoding="utf-8"))]

    def rows_of_shard(self, shard, query):
        """Of the database on the local disk of the last attempt to run a shard; none before it has tables."""
        attempts = self.attempts(shard)
        database = os.path.join(attempts[-1]["folder"], "shard.db") if attempts else ""
        if not os.path.exists(database):
            return []
        try:
            return rows_of(database, query)
        except sqlite3.OperationalError:
            return []

    def until_running(self, shard, sweep):
        """Waits for a run of a shard, and returns the process id of its kymo."""
        kymo = self.until(lambda: self.shards().get(shard), [sweep])
        self.until(lambda: self.rows_of_shard(shard, "SELECT 1 FROM run WHERE status = 'running'"), [sweep])
        return kymo

    def release_when_signalled(self, shard, name, *launches):
        """Let the held run go on after the job of a shard has received a signal and passed it on."""

        def output():
            attempts = self.attempts(shard)
            return Path(attempts[-1]["output"]).read_text(encoding="utf-8") if attempts else ""

        self.until(lambda: f"received {name}" in output(), launches)
        self.release()

    def hold(self, step=0):
        """Variables with which each run waits in this step until release()."""
        return {"KYMO_TEST_HOLD": f"{step}:{self.work / 'released'}"}

    def release(self):
        (self.work / "released").touch()
