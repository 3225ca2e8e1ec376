# SPDX-License-Identifier: Apache-2.0
"""Selects the processes of a program that are observed: its ranks, or a single process.

Keys of the setting: `ranks`, the number of ranks, or 0 if the program determines it; `single`, whether a process that
is no rank may be observed; `children`, whether that may be a process that multiprocessing started.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from . import LOADED_IN, PROGRAM, _exceptions, after_import
from ._replacement import wrap_method


class Membership(NamedTuple):
    """The rank of a process in the process group of the program."""

    rank: int | None  # None: not observed, or not yet
    ranks: int  # of the program; 0: no process group so far
    joins: bool  # the process becomes a rank if it creates a process group


TOO_LATE = (
    "a process became a rank after the pass had begun in it, or in the one that it was forked from; with --ranks, only "
    "ranks are observed"
)


def _number(variable: str) -> int | None:
    text = os.environ.get(variable, "")
    return int(text) if text.isdecimal() else None


def _is_child() -> bool:
    """True in a process that multiprocessing started, and in its fork server."""
    return any(word.startswith("from multiprocessing.") for word in sys.orig_argv)


#: How a process was started: by a command, by multiprocessing, or as a fork.
COMMAND, SPAWNED, FORKED = "command", "spawned", "forked"


def origin() -> str:
    if _is_child():
        return SPAWNED
    return COMMAND if os.getpid() == LOADED_IN else FORKED


def command() -> str:
    """The command of this process, on one line."""
    return _exceptions.shortened(" ".join(shlex.join(sys.orig_argv).split()))


def is_rank(setting: dict[str, Any], membership: Membership) -> bool:
    """Whether a process is one of several ranks. The supervisor itself reports ranks that it rejects."""
    return membership.ranks > 0 and not (setting["single"] and setting["ranks"])


def _observed(setting: dict[str, Any], rank: int | None) -> int | None:
    return rank if not setting["observed"] or rank in setting["observed"] else None


def membership_of_rank(setting: dict[str, Any], rank: int, ranks: int) -> Membership:
    """The membership of a rank of the process group."""
    expected = setting["ranks"] or ranks
    return Membership(_observed(setting, rank) if rank < expected else None, expected, joins=False)


def membership_at_start(setting: dict[str, Any]) -> Membership:
    """The membership of this process at its start."""
    expected, rank, ranks = setting["ranks"], _number("RANK"), _number("WORLD_SIZE")
    if not setting["single"]:
        return membership_of_rank(setting, rank, expected) if rank is not None else Membership(None, expected, True)
    if expected:
        return Membership(0 if setting["children"] or not _is_child() else None, expected, joins=False)
    if _is_child():
        return Membership(None, 0, joins=True)
    if rank is not None and ranks and _number("LOCAL_WORLD_SIZE") in (None, ranks):
        return membership_of_rank(setting, rank, ranks)
    return Membership(_observed(setting, 0), 0, joins=True)


#: Scripts and modules that start the ranks of a program.
_LAUNCHERS = {
    *("torchrun", "torch.distributed.run", "torch.distributed.launch"),
    *("accelerate", "accelerate-launch", "accelerate.commands.launch"),
    *("deepspeed", "deepspeed.launcher.runner", "deepspeed.launcher.launch"),
}


def is_launcher() -> bool:
    """True in a process that starts the ranks of a program."""
    return "RANK" not in os.environ and os.path.basename(PROGRAM) in _LAUNCHERS


def watch(observation: Any) -> None:
    """Observes when this process becomes a rank, exceptions that multiprocessing catches, and the end of its child
    processes."""

    def wrap_group(original: Callable[..., Any]) -> Callable[..., Any]:
        def _update_default_pg(pg: Any) -> Any:
            result = original(pg)
            try:
                if pg is not None and distributed.get_backend(pg) != "fake":
                    observation.joined(pg.rank(), pg.size())
            except Exception as error:  # must not become an error of the program
                observation.fail(error)
            return result

        return _update_default_pg

    def wrap_run(original: Callable[..., Any]) -> Callable[..., Any]:
        def run(self: Any) -> Any:
            try:
                return original(self)
            except SystemExit as error:
                # torch.multiprocessing.spawn raises it for an exception that it reports itself.
                observation.raised = error.__context__ if error.code else None
                raise
            except BaseException as error:  # multiprocessing reports it, and exits
                observation.raised = error
                raise

        return run

    def wrap_poll(original: Callable[..., Any]) -> Callable[..., Any]:
        def poll(self: Any, *args: Any, **kwargs: Any) -> Any:
            previous = self.returncode
            result = original(self, *args, **kwargs)
            if previous is None and result:
                observation.log(f"ended {self.pid} {result}")
            return result

        return poll

    # init_process_group calls it at its end, in whatever way the program has imported that.
    distributed: Any = sys.modules.get("torch.distributed.distributed_c10d")
    if distributed is not None:
        wrap_method(distributed, "_update_default_pg", wrap_group)
    wrap_method(sys.modules["multiprocessing.process"].BaseProcess, "run", wrap_run)  # torch imports it
    # The parent of a process polls its end. The start methods spawn and fork have the same poll().
    for name in ("multiprocessing.popen_fork", "multiprocessing.popen_forkserver"):
        after_import(name, lambda module: wrap_method(module.Popen, "poll", wrap_poll))
