# SPDX-License-Identifier: Apache-2.0
"""Common parts of the fault tests: detection of leftover processes, and a database that must stay consistent."""

import os
import signal
import sqlite3
import subprocess
import time

from kymo_tool import BUILD, HANG_S, KYMO, KymoTest

BAD = BUILD / "tests" / "plugins"


def processes_of(mark):
    """Processes whose environment contains `mark`: all leftover processes of a tool started with it, including
    descendants."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                environment = file.read()
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                state = file.read().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if mark.encode() in environment and state not in "ZX":
            found.append(int(name))
    return found


def wait_until(ready):
    """Waits until `ready()` is true and returns its last value."""
    deadline = time.monotonic() + HANG_S
    while not (value := ready()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return value


def damage_of(database):
    """Problems of a results database, as texts: damaged pages, dangling rows, and runs with fewer rows than they
    declare."""
    connection = sqlite3.connect(database)
    try:
        wrong = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        wrong += [f"dangling row: {row}" for row in connection.execute("PRAGMA foreign_key_check")]
        wrong += [
            f"run {row[0]} is ok and lacks samples"
            for row in connection.execute(
                """SELECT r.run_id FROM run r
               WHERE r.status = 'ok' AND r.keep <> 'summary' AND r.passes LIKE '%time%' AND r.steps > 0 AND
               (SELECT count(*) FROM sample s
                WHERE s.run_id = r.run_id AND s.pass = 'time' AND s.phase = 'step' AND NOT s.warmup)
               <> r.steps * r.ranks"""
            )
        ]
        wrong += [
            f"run {row[0]} is ok and lacks statistics"
            for row in connection.execute(
                """SELECT run_id FROM run WHERE status = 'ok' AND passes LIKE '%time%'
               AND run_id NOT IN (SELECT run_id FROM statistic WHERE phase = 'step')"""
            )
        ]
        wrong += [
            f"run {row[0]} is ok and lacks a worker"
            for row in connection.execute(
                """SELECT r.run_id FROM run r WHERE r.status = 'ok' AND
               (SELECT count(*) FROM rank k WHERE k.run_id = r.run_id AND k.status = 'ok')
               <> r.ranks * (1 + length(r.passes) - length(replace(r.passes, ',', '')))"""
            )
        ]
        wrong += [
            f"run {row[0]} is ok and does not say what pass {row[1]} cost"
            for row in connection.execute(
                """SELECT k.run_id, k.pass FROM run r JOIN rank k USING (run_id)
               WHERE r.status = 'ok' AND r.passes LIKE '%time%' AND k.pass IN ('memory', 'trace', 'ops') AND NOT EXISTS
               (SELECT 1 FROM overhead o
                WHERE o.run_id = k.run_id AND o.rank = k.rank AND o.pass = k.pass AND o.phase = 'step')"""
            )
        ]
        wrong += [
            f"run {row[0]} has no end"
            for row in connection.execute("SELECT run_id FROM run WHERE status <> 'running' AND ended_at IS NULL")
        ]
        return wrong
    finally:
        connection.close()


class FaultTest(KymoTest):
    """A KymoTest that passes only if no process is left running and the database is consistent."""

    def setUp(self):
        super().setUp()
        self.database = self.work / "kymo.db"
        self.begun = self.folder / "begun"
        self.begun.mkdir()
        self.environment["KYMO_TEST_BEGUN"] = str(self.begun)
        self.addCleanup(self.check_nothing_is_left)

    def check_nothing_is_left(self):
        if not wait_until(lambda: not self.left_running()):
            left = self.left_running()
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            self.fail(f"processes were left running: {left}")
        if self.database.exists():
            self.assertEqual(damage_of(self.database), [])

    def left_running(self):
        return processes_of(f"XDG_CACHE_HOME={self.folder}/cache")

    def start(self, *words):
        """Starts kymo with the default Ctrl-C handling, which scripts in the background do not have."""
        process = subprocess.Popen(
            [str(KYMO), *map(str, words)],
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self.addCleanup(process.wait, timeout=HANG_S)
        self.addCleanup(process.kill)
        return process

    def wait_for_steps(self, process, workers=1):
        """Waits until each worker has begun its first step."""
        self.assertTrue(wait_until(lambda: len(os.listdir(self.begun)) == workers or process.poll() is not None))
        self.assertIsNone(process.poll())

    def scratch_folders(self):
        root = self.work / "kymo.db.scratch"
        return [path for path in root.iterdir() if path.is_dir()] if root.exists() else []
