# SPDX-License-Identifier: Apache-2.0
"""Interleaves several runs of kymo on one machine: all processes exist at the same time, and one runs while the
others are stopped. Other load of the machine then affects all of them alike, unlike in consecutive runs."""

import contextlib
import dataclasses
import os
import signal
import sqlite3
import subprocess
import tempfile
import time

STEPS = "SELECT start_ns / 1e9, host_ns / 1e9 FROM sample WHERE pass = ? AND phase = 'step' AND warmup = 0"
LEAST_STEPS = 3  # minimum number of steps of a valid slice
LEAST_INSIDE = 0.5  # minimum fraction of the steps of a run that must lie within its slices
LONGEST_START_S = 60


@dataclasses.dataclass
class Member:
    name: str
    command: list
    environment: dict
    database: str
    observed: str  # the measured pass
    process: subprocess.Popen = None
    errors: object = dataclasses.field(default_factory=tempfile.TemporaryFile)  # output on stderr
    started: float = 0  # start of the worker's process by the wall clock, to which its step times are relative
    slices: list = dataclasses.field(default_factory=list)  # (cycle, begin, end) by the wall clock


def run(members, slice_s):
    """Runs all members to completion. Returns for each cycle {name: steps in milliseconds} for the members with
    complete steps in it."""
    try:
        cycle, running = 0, True
        while running:
            slices = [advance(member, cycle, slice_s) for member in members]  # a list, so that all of them advance
            cycle, running = cycle + 1, any(slices)
    finally:
        for member in members:
            if member.process and member.process.poll() is None:
                send(member.process.pid, signal.SIGKILL)
    return cycles_of(members)


def advance(member, cycle, slice_s):
    """Runs one slice; False if the process had already ended."""
    if member.process is None:
        member.process = subprocess.Popen(
            member.command, stdout=subprocess.DEVNULL, stderr=member.errors, env=member.environment
        )
        member.started = await_worker(member)
    elif member.process.returncode is not None:
        return False
    begin = time.time()
    send(member.process.pid, signal.SIGCONT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        member.process.wait(timeout=slice_s)
    member.slices.append((cycle, begin, time.time()))
    if member.process.returncode is None:
        send(member.process.pid, signal.SIGSTOP)
    elif member.process.returncode != 0:
        member.errors.seek(0)
        raise SystemExit(
            f"{member.name}: {' '.join(member.command)}: exit {member.process.returncode}\n"
            f"{member.errors.read().decode()}"
        )
    return True


def await_worker(member):
    """Returns the start time of the worker's process. The process must not be stopped before the worker's clock
    runs, which is the case once it has loaded its plugin."""
    latest = time.monotonic() + LONGEST_START_S
    while member.process.poll() is None and time.monotonic() < latest:
        for pid in family(member.process.pid):
            if has_plugin(pid):
                return start_of(pid)
        time.sleep(0.01)
    if member.process.poll() is None:
        raise SystemExit(f"{member.name}: no worker within {LONGEST_START_S} s")
    return 0


def has_plugin(pid):
    try:
        with (
            open(f"/proc/{pid}/cmdline", "rb") as line,
            open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps,
        ):
            return line.read().split(b"\0")[1:2] == [b"worker"] and "/kymo/plugins/" in maps.read()
    except OSError:
        return False


def start_of(pid):
    ticks = int(stat_of(pid)[19])
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + ticks / os.sysconf("SC_CLK_TCK")


def stat_of(pid):
    """The fields after the name in /proc/<pid>/stat: state, parent, ..."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()


def send(pid, what):
    """Sends a signal to a process and its descendants, parents first. Processes that have ended in the meantime are
    ignored."""
    for each in family(pid):
        try:
            os.kill(each, what)
        except ProcessLookupError:
            continue


def family(pid):
    """A process and its descendants, parents first."""
    children = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            children.setdefault(int(stat_of(entry)[1]), []).append(int(entry))
        except OSError:
            continue
    waiting = [pid]
    while waiting:
        each = waiting.pop()
        waiting += children.get(each, [])
        yield each


def cycles_of(members):
    cycles = {}
    for member in members:
        steps = absolute_steps(member)
        inside = 0
        for cycle, begin, end in member.slices:
            whole = [1e3 * length for start, length in steps if begin <= start and start + length <= end]
            inside += len(whole)
            if len(whole) >= LEAST_STEPS:
                cycles.setdefault(cycle, {})[member.name] = whole
        if inside < LEAST_INSIDE * len(steps):
            raise SystemExit(
                f"{member.name}: {inside} of {len(steps)} steps lie within its slices: the clocks disagree, "
                "or a slice is shorter than a step"
            )
    return [cycles[cycle] for cycle in sorted(cycles)]


def absolute_steps(member):
    """(start, length) in seconds by the wall clock."""
    with sqlite3.connect(member.database) as db:
        return [(member.started + at, length) for at, length in db.execute(STEPS, (member.observed,))]
