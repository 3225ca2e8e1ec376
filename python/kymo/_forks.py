# SPDX-License-Identifier: Apache-2.0
"""A worker process that serves each pass in a fork of its own, because importing torch takes seconds."""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import signal
import time
from collections.abc import Callable
from typing import NoReturn

# Signals of the supervisor (worker_command.hpp). They may arrive at any time, and wait until they are asked for.
_STAY_AFTER_FORK, _FORK_AGAIN = signal.SIGUSR1, signal.SIGUSR2


def serve_in_forks(module: str, start_ns: int, serve: Callable[[int, Exception | None], NoReturn]) -> NoReturn:
    """Imports a module, unless its name is empty, and calls `serve` in a fork for each pass, with the time when the
    process or the fork began, in ns on CLOCK_MONOTONIC_RAW, and the exception that the import raised. The process ends
    as its fork did, unless the supervisor has told it to stay."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (_STAY_AFTER_FORK, _FORK_AGAIN))
    error = _import_error(module) if module else None
    while True:
        child = os.fork()
        if child == 0:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            serve(start_ns, error)
        status = os.waitpid(child, 0)[1]
        _kill_rest_of_group()
        if not signal.sigtimedwait((_STAY_AFTER_FORK,), 0):
            _end_as(status)
        signal.sigwait((_FORK_AGAIN,))
        start_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


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
