# SPDX-License-Identifier: Apache-2.0
"""Observes the end of the process, its forks, and its replacement by another program."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from typing import Any

from ._replacement import wrap_method


def watch_process(observation: Any) -> None:
    atexit.register(observation.at_exit)
    os.register_at_fork(after_in_child=observation.forked)

    def wrap_exit(original: Callable[..., Any]) -> Callable[..., Any]:
        def leave(*args: Any, **kwargs: Any) -> Any:
            observation.at_exit()
            return original(*args, **kwargs)

        return leave

    def wrap_exec(original: Callable[..., Any]) -> Callable[..., Any]:
        def replace(path: Any, arguments: Any, *environment: Any) -> Any:
            if isinstance(path, int) or (os.path.isfile(path) and os.access(path, os.X_OK)):
                observation.replaced(arguments)
            return original(path, arguments, *environment)

        return replace

    wrap_method(os, "_exit", wrap_exit)
    for name in ("execv", "execve"):  # the other functions that replace the process call these
        wrap_method(os, name, wrap_exec)
