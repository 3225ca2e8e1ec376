# SPDX-License-Identifier: Apache-2.0
"""A worker process that serves each pass in a fork of its own, because importing torch takes seconds."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import os
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

# Signals of the supervisor (worker_command.hpp). They may arrive at any time, and wait until they are asked for.
_STAY_AFTER_FORK, _FORK_AGAIN = signal.SIGUSR1, signal.SIGUSR2
_PROCESSOR_FIELD = 36  # of /proc/self/stat, after the name of the program


def serve_in_forks(module: str, start_ns: int, serve: Callable[[int, Exception | None], NoReturn]) -> NoReturn:
    """Imports a module, unless its name is empty, and calls `serve` in a fork for each pass, with the time when the
    process or the fork began, in ns on CLOCK_MONOTONIC_RAW, and the exception that the import raised. The process ends
    as its fork did, unless the supervisor has told it to stay."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (_STAY_AFTER_FORK, _FORK_AGAIN))
    error = _import_error(module) if module else None
    for processor in itertools.cycle(_near_processors()):
        child = os.fork()
        if child == 0:
            _continue_on(processor)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            serve(start_ns, error)
        status = os.waitpid(child, 0)[1]
        _kill_rest_of_group()
        if not signal.sigtimedwait((_STAY_AFTER_FORK,), 0):
            _end_as(status)
        signal.sigwait((_FORK_AGAIN,))
        start_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def _near_processors() -> list[int]:
    """The processors that this process may use, of those that share the memory of the one that it runs on, which is the
    first. Forks begin on them in turn, because processors differ in speed if other virtual machines use them."""
    allowed = os.sched_getaffinity(0)
    current = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[_PROCESSOR_FIELD])
    for node in Path("/sys/devices/system/cpu").glob(f"cpu{current}/node*/cpulist"):
        near = allowed & _processors_of(node.read_text())
        if near:
            allowed = near
    return sorted(allowed, key=lambda processor: (processor < current, processor))


def _processors_of(ranges: str) -> set[int]:
    """The processors of a list of the kernel, such as "0-3,8"."""
    bounds = (each.partition("-")[::2] for each in ranges.strip().split(",") if each)
    return {number for first, last in bounds for number in range(int(first), int(last or first) + 1)}


def _continue_on(processor: int) -> None:
    """Moves this process to a processor, which it may leave again."""
    allowed = os.sched_getaffinity(0)
    with contextlib.suppress(OSError):  # the processor is not allowed any more
        os.sched_setaffinity(0, {processor})
        os.sched_setaffinity(0, allowed)


def _import_error(module: str) -> Exception | None:
    try:
        importlib.import_module(module)
    except Exception as error:
        return error
    return None


def _kill_rest_of_group() -> None:
    """Kills what a fork has left behind, as the supervisor does when a worker ends."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(ProcessLookupError):
            if int(name) != os.getpid() and os.getpgid(int(name)) == os.getpgrp():
                os.kill(int(name), signal.SIGKILL)


def _end_as(status: int) -> NoReturn:
    """Ends this process as a child with this wait status."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the child has written its core
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))
