# SPDX-License-Identifier: Apache-2.0
"""Calls of functions that the program has compiled with Dynamo: like modules, they may be the work of a step.

Dynamo makes a context for each function, with a list of functions that it calls before each call of the compiled one
and, by what these return, after it. It does not compile them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _program, after_import
from ._replacement import in_place_of


def _nothing() -> None:
    pass


class CompiledFunction:
    """What is known of the compiled functions of one context."""

    def __init__(self, observation: Any) -> None:
        self.observation = observation
        self.training = True  # as far as is known: it is no module
        self.is_forward = True

    def begin(self) -> Callable[[], None]:
        """Called before each call. Returns what is to be called after it."""
        self.observation.steps.was_update()  # of another call
        return self.end if _program.enter_function(self, self.is_forward) else _nothing

    def end(self) -> None:
        _program.leave()
        # Not a function that updates parameters, which makes nothing that a backward pass could use.
        if self.observation.steps.was_update() and self.observation.torch.is_grad_enabled():
            self.is_forward = False


def watch_functions(observation: Any) -> None:
    def watch(module: Any) -> None:
        kind = module.OptimizeContext
        make = kind.__init__

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            make(self, *args, **kwargs)
            hooks = getattr(self, "enter_exit_hooks", None)
            if hooks is not None and not kwargs.get("export"):
                hooks.append(CompiledFunction(observation).begin)

        kind.__init__ = in_place_of(make, __init__)

    after_import("torch._dynamo.eval_frame", watch)
