# SPDX-License-Identifier: Apache-2.0
"""Observes how long the program waits for the batches of a DataLoader."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from . import _program
from ._replacement import wrap_method


def watch(disarm: Callable[[], None]) -> None:
    """`disarm` is called in the worker processes of DataLoaders, which are not observed."""

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
            disarm()
            return original(*args, **kwargs)

        return _worker_loop

    data = sys.modules["torch.utils.data.dataloader"]
    wrap_method(data._BaseDataLoaderIter, "__next__", wrap)  # type: ignore[attr-defined]
    wrap_method(sys.modules["torch.utils.data._utils.worker"], "_worker_loop", wrap_worker)
