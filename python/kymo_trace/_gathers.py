# SPDX-License-Identifier: Apache-2.0
"""Reports when the modules of fully_shard need the parameters that it gathers."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable
from typing import Any

from . import _program, after_import
from ._replacement import in_place_of


def watch_gathers() -> None:
    """Wraps the functions of fully_shard once its module is imported."""
    pending: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()  # calls, by group of parameters

    def need(group: Any, calls: int) -> None:
        with contextlib.suppress(Exception):  # another version of torch must not make the program fail
            modules = getattr(group, "modules", ())
            name = getattr(group, "_module_fqn", None) or (type(modules[0]).__name__ if modules else "")
            _program.library_calls_needed(calls, name)

    def blocks(group: Any, is_asynchronous: bool) -> bool:
        """Whether unshard() itself waits until the parameters have been gathered."""
        return not is_asynchronous and getattr(getattr(group, "device", None), "type", "") == "cpu"

    def wrap_unshard(original: Callable[..., Any]) -> Callable[..., Any]:
        def unshard(self: Any, async_op: bool = False) -> Any:
            calls = _program.library_calls_begin()
            if not calls:
                return original(self, async_op)
            was_pending = getattr(self, "_all_gather_result", None) is not None
            if blocks(self, async_op):
                need(self, calls)
            try:
                return original(self, async_op)
            finally:
                _program.library_calls_end(calls)
                if not was_pending and getattr(self, "_all_gather_result", None) is not None:
                    pending[self] = calls

        return in_place_of(original, unshard)

    def wrap_wait(original: Callable[..., Any]) -> Callable[..., Any]:
        def wait_for_unshard(self: Any) -> Any:
            if calls := pending.pop(self, 0):
                need(self, calls)
            return original(self)

        return in_place_of(original, wait_for_unshard)

    def replace(module: Any) -> None:
        group = module.FSDPParamGroup
        group.unshard = wrap_unshard(group.unshard)
        group.wait_for_unshard = wrap_wait(group.wait_for_unshard)

    after_import("torch.distributed.fsdp._fully_shard._fsdp_param_group", replace)
