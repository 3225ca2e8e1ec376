# SPDX-License-Identifier: Apache-2.0
"""Observes the optimizers of the program, and GradScalers, which may skip their steps."""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from . import _program
from ._replacement import in_place_of, skipped_frames, wrap_method

#: Types of closures, as the first argument of step(). A callable object of another type may be no closure.
_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType, functools.partial)


def _watch_steps(torch: Any, on_created: Callable[[Any], None], existing: Sequence[Any]) -> None:
    optimizer_class = sys.modules["torch.optim.optimizer"].Optimizer  # type: ignore[attr-defined]
    compiling = torch.compiler.is_dynamo_compiling
    begins, ends, fails = _program.optimizer_begins, _program.optimizer_ends, _program.optimizer_fails
    init, hook = optimizer_class.__init__, optimizer_class.profile_hook_step

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        on_created(self)
        init(self, *args, **kwargs)

    def profile_hook_step(func: Callable[..., Any]) -> Callable[..., Any]:
        """Called once for each optimizer class with its function step(). Hooks of torch cannot be used, because Dynamo
        compiles their calls."""
        return observed_step(hook(func))

    def observed_step(original: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            if compiling():
                return original(*args, **kwargs)
            begins(args[0])
            if len(args) > 1 or kwargs:
                args, kwargs = with_closure(args, kwargs)
            try:
                result = original(*args, **kwargs)
            except BaseException:
                fails(args[0])
                raise
            ends(args[0])
            return result

        return skipped_frames.add(in_place_of(original, step))  # type: ignore[no-any-return]

    def with_closure(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if callable(kwargs.get("closure")):
            return args, {**kwargs, "closure": observed(kwargs["closure"])}
        if len(args) > 1 and isinstance(args[1], _FUNCTIONS):
            return (args[0], observed(args[1]), *args[2:]), kwargs
        return args, kwargs

    def observed(closure: Callable[..., Any]) -> Callable[..., Any]:
        """A closure that is not part of the phase of the optimizer that calls it."""

        def call(*args: Any, **kwargs: Any) -> Any:
            if compiling():
                return closure(*args, **kwargs)
            begun = _program.closure_begins()
            try:
                return closure(*args, **kwargs)
            finally:
                _program.closure_ends(begun)

        return functools.update_wrapper(call, closure)

    optimizer_class.__init__ = in_place_of(init, __init__)
    optimizer_class.profile_hook_step = staticmethod(profile_hook_step)
    for optimizer in existing:
        method = type(optimizer).step
        if getattr(method, "hooked", None) and not hasattr(method, "observed"):
            replacement = observed_step(method)
            replacement.hooked = replacement.observed = True  # type: ignore[attr-defined]
            type(optimizer).step = replacement
        if "step" in vars(optimizer):  # set by a scheduler, and calls the original method of the class
            optimizer.step = without_self(observed_step(with_self(optimizer.step)), optimizer)


def with_self(step: Callable[..., Any]) -> Callable[..., Any]:
    """Adds a parameter `self`, which is ignored, to a function."""

    def call(_: Any, *args: Any, **kwargs: Any) -> Any:
        return step(*args, **kwargs)

    return functools.update_wrapper(call, step)


def without_self(step: Callable[..., Any], of: Any) -> Callable[..., Any]:
    return functools.update_wrapper(functools.partial(step, of), step)


def existing(torch: Any) -> list[Any]:
    """The optimizers that the program has created so far, among all objects that the garbage collector tracks."""
    return [each for each in gc.get_objects() if issubclass(type(each), torch.optim.Optimizer)]


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

    scaler = sys.modules["torch.amp.grad_scaler"].GradScaler  # type: ignore[attr-defined]
    wrap_method(scaler, "step", wrap_step)
    wrap_method(scaler, "update", wrap)


def watch(torch: Any, on_created: Callable[[Any], None], existing: Sequence[Any]) -> None:
    """Passes the steps of all optimizers to _program: of those that are created from now on, for each of which
    `on_created` is called, and of the `existing` ones."""
    _watch_steps(torch, on_created, existing)
    _watch_scaler()
