# SPDX-License-Identifier: Apache-2.0
"""Repeatedly kills kymo, or one of its workers, at random times on one database and checks the state after each kill.

    KYMO_BUILD=build tests/e2e/kill_sweep.py --rounds 200 [--seed N]

After each kill: no process is left, the database is consistent, and a run with status ok contains all its samples.
After the next start: runs that were running are interrupted. If a worker is killed, kymo finishes the other runs. No
run that was finished before a kill is changed by it.
"""

import argparse
import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fault_tool import BAD, damage_of, processes_of, wait_until
from kymo_tool import HANG_S, KYMO

WORK = [
    "run",
    str(BAD / "probe.so"),
    "--axis",
    "sleep=100,200",
    "--ranks",
    "2",
    "--warmup",
    "1",
    "--steps",
    "5",
    "--timeout",
    str(HANG_S),
    "--passes",
    "verify,time,memory,trace,ops",
    "--observed-steps",
    "3",
]
FINISH = ["run", str(BAD / "raw_valid.so"), "--warmup", "0", "--steps", "1", "--no-verify"]


def is_worker(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as cmdline:
            return b"worker" in cmdline.read().split(b"\0")
    except OSError:
        return False


class Sweep:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.database = self.folder / "kymo.db"
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), "NO_COLOR": "1"}
        self.environment.pop("KYMO_PLUGIN_PATH", None)
        self.mark = f"XDG_CACHE_HOME={self.folder}/cache"

    def start(self, words):
        return subprocess.Popen(
            [str(KYMO), *words, "--db", str(self.database)],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def whole_run_s(self):
        """Duration of the work without a kill, in seconds."""
        began = time.monotonic()
        process = self.start(WORK)
        _, err = process.communicate(timeout=HANG_S)
        if process.returncode != 0:
            raise SystemExit(f"the work itself failed with exit code {process.returncode}:\n{err}")
        return time.monotonic() - began

    def statuses(self):
        connection = sqlite3.connect(self.database)
        try:
            return dict(connection.execute("SELECT status, count(*) FROM run GROUP BY status"))
        finally:
            connection.close()

    def finished(self):
        """The finished runs with their numbers of samples."""
        if not self.database.exists() or self.database.stat().st_size == 0:
            return set()
        connection = sqlite3.connect(self.database)
        try:
            return set(
                connection.execute(
                    "SELECT run_id, status, ended_at, (SELECT count(*) FROM sample s WHERE s.run_id = r.run_id) "
                    "FROM run r WHERE status <> 'running'"
                )
            )
        except sqlite3.OperationalError:  # killed before it had created the tables
            return set()
        finally:
            connection.close()

    def kill_worker(self, process):
        """Kills one of the workers, if there is one; returns the problems found, as texts."""
        workers = [pid for pid in processes_of(self.mark) if is_worker(pid)]
        if workers:
            with contextlib.suppress(ProcessLookupError):  # it has ended by itself
                os.kill(random.choice(workers), signal.SIGKILL)
        try:
            _, err = process.communicate(timeout=HANG_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate(timeout=HANG_S)
            return ["kymo hangs after a worker was killed"]
        # 0: the worker had nothing left to do.
        return [] if process.returncode in (0, 3) else [f"exit code {process.returncode}: {err.strip()}"]

    def round(self, delay_s, kill_worker):
        """Kills kymo or a worker after a delay; returns the problems found afterwards, as texts."""
        process = self.start(WORK)
        time.sleep(delay_s)
        before = self.finished()
        wrong = []
        if kill_worker:
            wrong += self.kill_worker(process)
        else:
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=HANG_S)
        wrong += [f"lost the finished run {row}" for row in sorted(before - self.finished())]
        if not wait_until(lambda: not processes_of(self.mark)):
            left = processes_of(self.mark)
            wrong.append(f"processes left: {left}")
            for pid in left:
                os.kill(pid, signal.SIGKILL)
        if self.database.exists() and self.database.stat().st_size > 0:
            wrong += damage_of(self.database)
        return wrong

    def next_start(self):
        """A start after a kill recovers the running runs; returns the problems found afterwards, as texts."""
        process = self.start(FINISH)
        _, err = process.communicate(timeout=HANG_S)
        wrong = [] if process.returncode == 0 else [f"the next start ended with {process.returncode}: {err.strip()}"]
        statuses = self.statuses()
        if "running" in statuses:
            wrong.append(f"still running after the next start: {statuses}")
        scratch = Path(f"{self.database}.scratch")
        if scratch.exists():
            wrong.append(f"left in the scratch folder: {sorted(str(path) for path in scratch.rglob('*'))}")
        return wrong + damage_of(self.database)


def sweep(rounds, seed, say=lambda line: None):
    """Executes the rounds; returns all problems, and the statuses of the runs."""
    chance = random.Random(seed)
    folder = tempfile.mkdtemp(prefix="kymo-sweep-")
    wrong = []
    try:
        one = Sweep(folder)
        longest_s = one.whole_run_s() * 1.1
        for number in range(rounds):
            delay_s = chance.uniform(0, longest_s)
            worker = chance.random() < 0.25
            found = one.round(delay_s, worker)
            if chance.random() < 0.5 or number == rounds - 1:
                found += one.next_start()
            victim = "worker" if worker else "kymo"
            wrong += [f"round {number} ({victim} killed after {delay_s:.3f} s): {what}" for what in found]
            say(f"round {number + 1} of {rounds}: {victim} killed after {delay_s:.3f} s: {'; '.join(found) or 'sound'}")
        return wrong, one.statuses()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None, help="makes the moments the same again")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    wrong, statuses = sweep(options.rounds, seed, lambda line: print(line, flush=True))
    print(f"runs by status: {statuses}")
    print(f"{len(wrong)} faults" + "".join(f"\n  {what}" for what in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
