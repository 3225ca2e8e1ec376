# SPDX-License-Identifier: Apache-2.0
"""Observes the time in which the program waits for a batch of a DataLoader."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from . import _program
from ._replacement import wrap_method


def watch(disarm: Callable[[], None]) -> None:
    """Calls a function in the workers, which are not observed."""

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        def __next__(self: Any) -> Any:
            begun = _program.loading_begins()
            try:
                return original(self)
            finally:
                _program.loading_ends(begun)

        return __next__

    def wrap_worker(original: Callable[..., Any]) -> Callable[..., Any]:
        def _worker_loop(*args: Any, **kwargs: Any) -> Any:
            disarm()  # a process of its own, which runs the transforms of a data set
            return original(*args, **kwargs)

        return _worker_loop

    data = sys.modules["torch.utils.data.dataloader"]
    wrap_method(data._BaseDataLoaderIter, "__next__", wrap)  # type: ignore[attr-defined]
    wrap_method(sys.modules["torch.utils.data._utils.worker"], "_worker_loop", wrap_worker)
