# SPDX-License-Identifier: Apache-2.0
"""Calls of functions that the program has compiled with Dynamo, which may be root calls like those of modules.

Dynamo creates a context for each function. Before each call of the compiled function, it calls the hooks in a list of
the context, and after the call the functions that the hooks returned. Dynamo does not compile the hooks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _program, after_import
from ._replacement import in_place_of


def _nothing() -> None:
    pass


class CompiledFunction:
    """The compiled functions of one context."""

    def __init__(self, observation: Any) -> None:
        self.observation = observation
        self.training = True  # assumed: only modules have a mode
        self.is_forward = True

    def begin(self) -> Callable[[], None]:
        """Called before each call. Returns the function to call after it."""
        self.observation.steps.was_update()  # discards the state of another call
        return self.end if _program.enter_function(self, self.is_forward) else _nothing

    def end(self) -> None:
        _program.leave()
        # A function that updates parameters records no operators for a backward pass.
        if self.observation.steps.was_update() and self.observation.torch.is_grad_enabled():
            self.is_forward = False


def watch_functions(observation: Any) -> None:
    def watch(module: Any) -> None:
        context = module.OptimizeContext
        original = context.__init__

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            hooks = getattr(self, "enter_exit_hooks", None)
            if hooks is not None and not kwargs.get("export"):
                hooks.append(CompiledFunction(observation).begin)

        context.__init__ = in_place_of(original, __init__)

    after_import("torch._dynamo.eval_frame", watch)
