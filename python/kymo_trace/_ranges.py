# SPDX-License-Identifier: Apache-2.0
"""Records NVTX ranges of the program (torch.cuda.nvtx) and Python's garbage collections as scopes, except collections
of the youngest generation, which are frequent and short."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

from . import _program
from ._replacement import wrap_method


def _collects(phase: str, info: dict[str, int]) -> None:
    if info["generation"] == 0:
        return
    if phase == "start":
        _program.range_begin("garbage collection")
    else:
        _program.range_end()


def watch() -> None:
    def wrap_push(original: Callable[..., Any]) -> Callable[..., Any]:
        def range_push(msg: Any) -> Any:
            result = original(msg)
            _program.range_begin(msg)
            return result

        return range_push

    def wrap_pop(original: Callable[..., Any]) -> Callable[..., Any]:
        def range_pop() -> Any:
            _program.range_end()
            return original()

        return range_pop

    nvtx = sys.modules["torch.cuda.nvtx"]
    wrap_method(nvtx, "range_push", wrap_push)
    wrap_method(nvtx, "range_pop", wrap_pop)
    gc.callbacks.append(_collects)
