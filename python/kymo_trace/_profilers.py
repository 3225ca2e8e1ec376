# SPDX-License-Identifier: Apache-2.0
"""Detects profilers that the program itself uses, because the steps contain their overhead."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any


def watch(begins: Callable[[], None], ends: Callable[[], None]) -> None:
    """Calls `begins` and `ends` when a torch.profiler, or the older torch.autograd.profiler, starts and stops
    recording."""
    profile = sys.modules["torch.autograd.profiler"].profile  # type: ignore[attr-defined]  # torch.profiler uses it
    start, stop = profile._start_trace, profile.__exit__

    @functools.wraps(start)
    def _start_trace(self: Any) -> Any:
        begins()
        return start(self)

    @functools.wraps(stop)
    def __exit__(self: Any, *args: Any) -> Any:
        if self.entered:
            ends()
        return stop(self, *args)

    profile._start_trace, profile.__exit__ = _start_trace, __exit__
