# SPDX-License-Identifier: Apache-2.0
"""Observes the optimizers of the program, and GradScalers, which skip their steps."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from . import _program
from ._replacement import in_place_of, wrap_method


def _watch_steps(on_created: Callable[[Any], None]) -> None:
    optimizer: Any = sys.modules["torch.optim.optimizer"]
    optimizer.register_optimizer_step_pre_hook(_program.optimizer_begins)
    optimizer.register_optimizer_step_post_hook(_program.optimizer_ends)
    kind = optimizer.Optimizer
    make = kind.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        on_created(self)
        make(self, *args, **kwargs)

    kind.__init__ = in_place_of(make, __init__)


def _watch_scaler() -> None:
    def wrap_step(original: Callable[..., Any]) -> Callable[..., Any]:
        def step(self: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, optimizer, *args, **kwargs)
            _program.scaler_stepped(optimizer)
            return result

        return step

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        def update(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, *args, **kwargs)
            _program.scaler_updated()
            return result

        return update

    kind = sys.modules["torch.amp.grad_scaler"].GradScaler  # type: ignore[attr-defined]
    wrap_method(kind, "step", wrap_step)
    wrap_method(kind, "update", wrap)


def watch(on_created: Callable[[Any], None]) -> None:
    """Calls a function with each optimizer that is created. Their steps are passed to _program."""
    _watch_steps(on_created)
    _watch_scaler()
