# SPDX-License-Identifier: Apache-2.0
"""Repeatedly kills kymo, or one of its workers, at random times on one database and checks the state after each kill.
The commands are run, ab, trace, report, merge and export.

    KYMO_BUILD=build tests/e2e/kill_sweep.py --rounds 200 [--seed N]

After each kill: no process is left, the databases are consistent, a run with status ok contains all its samples, and
files of reports and exports are complete. After the next start: runs that were running are interrupted. If a worker is
killed, kymo finishes the other runs. No run that was finished before a kill is changed by it.
"""

import argparse
import contextlib
import json
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
from kymo_tool import HANG_S, HAS_TORCH_PARTS, KYMO, cached_variable

RUN = [
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
FINISH = ["run", str(BAD / "raw_valid.so"), "--warmup", "0", "--steps", "1", "--no-verify", "--db", "kymo.db"]
PYTHON = cached_variable("KYMO_TORCH_PYTHON")
PROGRAM = Path(__file__).resolve().parent.parent / "python" / "programs" / "ends.py"
WORK = {
    "run": [*RUN, "--db", "kymo.db"],
    "ab": ["ab", *(f"{BAD}/probe.so:probe:sleep={ms}" for ms in (100, 110)), "--steps", "3", "--max-time", "1"],
    "trace": ["trace", "--steps", "2:10", "--passes", "time,ops", "--", PYTHON, str(PROGRAM), "normal"],
    "report": ["report", "quick", "--format", "markdown,html,csv", "--db", "kymo.db"],
    "merge": ["merge", "merged.db", "kymo.db"],
    "export": ["export", "perfetto", "--pass", "trace", "-o", "trace.json"],
}
if not HAS_TORCH_PARTS:
    del WORK["trace"]
HAS_WORKERS = ("run", "ab", "trace")


def is_worker(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as cmdline:
            words = cmdline.read().split(b"\0")
            return b"worker" in words or str(PROGRAM).encode() in words[:2]
    except OSError:
        return False


def is_whole(page):
    return page.read_bytes().rstrip().endswith(b"</html>")


class Sweep:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.database = self.folder / "kymo.db"
        self.merged = self.folder / "merged.db"
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), "NO_COLOR": "1"}
        self.environment.pop("KYMO_PLUGIN_PATH", None)
        self.environment |= {"KYMO_TEST_LIGHT_TORCH": "1", "OMP_NUM_THREADS": "1"}
        self.mark = f"XDG_CACHE_HOME={self.folder}/cache"

    def start(self, words):
        return subprocess.Popen(
            [str(KYMO), *words],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def whole_s(self, name):
        """Duration of a command without a kill, in seconds."""
        began = time.monotonic()
        process = self.start(WORK[name])
        _, err = process.communicate(timeout=HANG_S)
        if process.returncode != 0:
            raise SystemExit(f"{name} itself failed with exit code {process.returncode}:\n{err}")
        return time.monotonic() - began

    def statuses(self):
        connection = sqlite3.connect(self.database)
        try:
            return dict(connection.execute("SELECT status, count(*) FROM run GROUP BY status"))
        finally:
            connection.close()

    def finished(self):
        """The finished runs of both databases with their numbers of samples."""
        return self.finished_in(self.database) | self.finished_in(self.merged)

    def finished_in(self, database):
        if not database.exists() or database.stat().st_size == 0:
            return set()
        connection = sqlite3.connect(database)
        try:
            return set(
                connection.execute(
                    f"SELECT '{database.stem}', run_id, status, ended_at, "
                    "(SELECT count(*) FROM sample s WHERE s.run_id = r.run_id) FROM run r WHERE status <> 'running'"
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
        expected = (0, 3, 128 + signal.SIGKILL)
        return [] if process.returncode in expected else [f"exit code {process.returncode}: {err.strip()}"]

    def damage(self):
        """Problems of the databases and of what was exported, as texts."""
        wrong = []
        for database in (self.database, self.merged):
            if database.exists() and database.stat().st_size > 0:
                wrong += [f"{database.name}: {what}" for what in damage_of(database)]
        for trace in self.folder.glob("trace*.json"):
            try:
                json.loads(trace.read_bytes())
            except ValueError as error:
                wrong.append(f"the exported trace is damaged: {error}")
        wrong += [f"{page} is not complete" for page in self.folder.glob("report/*.html") if not is_whole(page)]
        return wrong

    def round(self, name, delay_s, kill_worker):
        """Kills kymo or a worker after a delay; returns the problems found afterwards, as texts."""
        process = self.start(WORK[name])
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
        return wrong + self.damage()

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
        return wrong + self.damage()


def sweep(rounds, seed, say=lambda line: None):
    """Executes the rounds; returns all problems, and the statuses of the runs."""
    chance = random.Random(seed)
    folder = tempfile.mkdtemp(prefix="kymo-sweep-")
    wrong = []
    try:
        one = Sweep(folder)
        longest_s = {name: one.whole_s(name) * 1.1 for name in WORK}
        for number in range(rounds):
            name = [*WORK][number % len(WORK)]
            delay_s = chance.uniform(0, longest_s[name])
            worker = name in HAS_WORKERS and chance.random() < 0.25
            found = one.round(name, delay_s, worker)
            if chance.random() < 0.5 or number == rounds - 1:
                found += one.next_start()
            victim = f"worker of {name}" if worker else name
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
