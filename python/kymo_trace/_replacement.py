# SPDX-License-Identifier: Apache-2.0
"""Replaces functions of torch by functions that call them.

Dynamo must not compile these functions: they would be compiled instead of the program's own, and all modules share
them. So each has the file and the name of the function that it calls, whose frames Dynamo skips. Where it does not skip
those, it is told to skip the frames of the new function.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from . import after_import


def in_place_of(original: Callable[..., Any], function: Any) -> Any:
    """Gives a function the identity of the one that it calls, and of its source file."""
    code = original.__code__  # type: ignore[attr-defined]
    identity = {"co_filename": code.co_filename, "co_name": code.co_name}
    if sys.version_info >= (3, 11):
        identity["co_qualname"] = code.co_qualname
    function.__code__ = function.__code__.replace(**identity)
    functools.update_wrapper(function, original)
    return function


def wrap_method(kind: Any, name: str, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    original = getattr(kind, name)
    setattr(kind, name, functools.wraps(original)(wrap(original)))


def without_dynamo(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that Dynamo, which may be active where it is called, does not compile, with all that it calls."""
    set_eval_frame = sys.modules["torch._C._dynamo.eval_frame"].set_eval_frame  # type: ignore[attr-defined]

    def call(*args: Any) -> Any:
        prior = set_eval_frame(None)
        try:
            return function(*args)
        finally:
            set_eval_frame(prior)

    return call


class SkippedFrames:
    """Code whose frames Dynamo does not compile; it compiles what they call, and what it inlines."""

    def __init__(self) -> None:
        self._known: list[CodeType] = []  # until Dynamo is imported
        self._skip: Callable[[CodeType], None] = self._known.append

    def watch(self) -> None:
        """Skips this package, too: what it does within compiled code would be compiled."""
        after_import("torch._dynamo.eval_frame", self._imported)

    def add(self, function: Any) -> Any:
        self._skip(function.__code__)
        return function

    def _imported(self, eval_frame: Any) -> None:
        self._skip = eval_frame.skip_code
        for code in [*self._known, *_package_code()]:
            self._skip(code)
        self._known.clear()


skipped_frames = SkippedFrames()


def _package_code() -> Iterator[CodeType]:
    name = __name__.partition(".")[0]
    for module in [module for key, module in sys.modules.items() if key.partition(".")[0] == name]:
        for value in vars(module).values():
            if getattr(value, "__module__", None) == module.__name__:
                members = vars(value).values() if isinstance(value, type) else [value]
                for member in members:
                    function = getattr(member, "fget", None) or getattr(member, "__func__", member)
                    if isinstance(function, FunctionType):
                        yield from _nested(function.__code__)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _nested(each)
