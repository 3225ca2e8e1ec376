# SPDX-License-Identifier: Apache-2.0
"""Replaces functions of torch by functions that call them.

Dynamo must not compile the replacements: they would be compiled instead of the program's functions, and all modules
share them. So each replacement has the file and the name of the original, whose frames Dynamo skips. Where Dynamo does
not skip those, the code of the replacement is registered as skipped.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from . import after_import


def in_place_of(original: Callable[..., Any], function: Any) -> Any:
    """Gives a function the name and the source file of the function that it replaces."""
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
    """Disables Dynamo for a function and its callees, which may be called where Dynamo is active."""
    set_eval_frame = sys.modules["torch._C._dynamo.eval_frame"].set_eval_frame  # type: ignore[attr-defined]

    def call(*args: Any) -> Any:
        prior = set_eval_frame(None)
        try:
            return function(*args)
        finally:
            set_eval_frame(prior)

    return call


class SkippedFrames:
    """Code whose frames Dynamo does not compile. It still compiles their callees, and inlines the code."""

    def __init__(self) -> None:
        self._pending: list[CodeType] = []  # until Dynamo is imported
        self._skip: Callable[[CodeType], None] = self._pending.append

    def watch(self) -> None:
        """Also skips this package, whose functions Dynamo would compile if compiled code calls them."""
        after_import("torch._dynamo.eval_frame", self._imported)

    def add(self, function: Any) -> Any:
        self._skip(function.__code__)
        return function

    def _imported(self, eval_frame: Any) -> None:
        self._skip = eval_frame.skip_code
        for code in [*self._pending, *_package_code()]:
            self._skip(code)
        self._pending.clear()


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
