# SPDX-License-Identifier: Apache-2.0
"""Runs of kymo that take turns on one machine: all live at the same time, one works while the others are stopped. What the machine does
meanwhile meets all alike, which runs one after another cannot promise."""
import dataclasses
import datetime
import os
import signal
import sqlite3
import subprocess
import tempfile
import time

STEPS = "SELECT start_ns / 1e9, host_ns / 1e9 FROM sample WHERE pass = ? AND phase = 'step' AND warmup = 0"
LEAST_STEPS = 3  # of a turn that counts
LEAST_INSIDE = 0.5  # of the steps of a run: more turns than this do not end within a step
STARTED_S = 0.5  # of a worker: beyond this the clock of its steps runs
LONGEST_START_S = 60


@dataclasses.dataclass
class Member:
    name: str
    command: list
    environment: dict
    database: str
    observed: str  # the pass whose steps count
    process: subprocess.Popen = None
    errors: object = None  # a file with what it said on stderr
    turns: list = dataclasses.field(default_factory=list)  # (lap, begin, end) by the wall clock


def take(members, turn_s):
    """Runs all to their ends. Returns for each lap {name: steps in milliseconds} of those that have whole steps in it."""
    try:
        lap = 0
        while any([advance(member, lap, turn_s) for member in members]):
            lap += 1
    finally:
        for member in members:
            if member.process and member.process.poll() is None:
                send(member.process.pid, signal.SIGKILL)
    return laps_of(members)


def advance(member, lap, turn_s):
    """One turn; False once it has ended."""
    if member.process is None:
        member.errors = tempfile.TemporaryFile()
        member.process = subprocess.Popen(member.command, stdout=subprocess.DEVNULL, stderr=member.errors, env=member.environment)
        await_worker(member.process)
    elif member.process.returncode is not None:
        return False
    begin = time.time()
    send(member.process.pid, signal.SIGCONT)
    try:
        member.process.wait(timeout=turn_s)
    except subprocess.TimeoutExpired:
        pass
    member.turns.append((lap, begin, time.time()))
    if member.process.returncode is None:
        send(member.process.pid, signal.SIGSTOP)
    elif member.process.returncode != 0:
        member.errors.seek(0)
        raise SystemExit(f"{member.name}: {' '.join(member.command)}: exit {member.process.returncode}\n{member.errors.read().decode()}")
    return True


def await_worker(process):
    """A run is dated by its supervisor, its steps count from the start of its worker: no stop may come between the two."""
    latest = time.monotonic() + LONGEST_START_S
    while process.poll() is None and time.monotonic() < latest:
        if any(is_worker(pid) for pid in family(process.pid)):
            return time.sleep(STARTED_S)
        time.sleep(0.01)


def is_worker(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")[1:2] == [b"worker"]
    except OSError:
        return False


def send(pid, what):
    """To a process and all that it started, parents first. Those that have ended meanwhile do not matter."""
    for each in family(pid):
        try:
            os.kill(each, what)
        except ProcessLookupError:
            continue


def family(pid):
    """A process and all that it started, parents first."""
    children = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                children.setdefault(int(file.read().rpartition(")")[2].split()[1]), []).append(int(entry))
        except OSError:
            continue
    waiting = [pid]
    while waiting:
        each = waiting.pop()
        waiting += children.get(each, [])
        yield each


def laps_of(members):
    laps = {}
    for member in members:
        steps = absolute_steps(member)
        inside = 0
        for lap, begin, end in member.turns:
            whole = [1e3 * length for start, length in steps if begin <= start and start + length <= end]
            inside += len(whole)
            if len(whole) >= LEAST_STEPS:
                laps.setdefault(lap, {})[member.name] = whole
        if inside < LEAST_INSIDE * len(steps):
            raise SystemExit(f"{member.name}: {inside} of {len(steps)} steps lie within its turns: the clocks do not agree, or a turn is too short for a step")
    return [laps[lap] for lap in sorted(laps)]


def absolute_steps(member):
    """(start, length) in seconds by the wall clock."""
    with sqlite3.connect(member.database) as db:
        started_at = db.execute("SELECT started_at FROM run").fetchone()[0]
        start = datetime.datetime.fromisoformat(started_at.replace("Z", "+00:00")).timestamp()
        return [(start + at, length) for at, length in db.execute(STEPS, (member.observed,))]
