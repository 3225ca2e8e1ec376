# SPDX-License-Identifier: Apache-2.0
"""Functions that take the place of those of torch and Python."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any


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
