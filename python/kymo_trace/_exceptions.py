# SPDX-License-Identifier: Apache-2.0
"""Describes exceptions of workloads and of observed programs in one line."""

from __future__ import annotations

import os
import sys
from types import TracebackType

MAX_TEXT = 450  # characters; the host stores 600 bytes, and the position follows the text


def describe(exception: BaseException, file: str) -> str:
    """Returns "Type: text (file.py:LINE)" on one line, for a SyntaxError with its code. The position is that of the
    innermost frame in `file`, otherwise that of the innermost frame."""
    name = type(exception).__qualname__
    position = _position(exception, file)
    text = one_line(exception)
    return name + (f": {text}" if text else "") + (f" ({position})" if position else "")


def is_out_of_memory(exception: BaseException) -> bool:
    """True for errors of the allocators of Python and torch, and for errors that these caused."""
    kinds = (MemoryError, getattr(sys.modules.get("torch"), "OutOfMemoryError", MemoryError))
    cause: BaseException | None = exception
    for _ in range(100):  # causes may form a cycle
        if cause is None:
            break
        # Without a type of its own: errors of torch's CPU allocator.
        if isinstance(cause, kinds) or "DefaultCPUAllocator: can't allocate memory" in _text(cause):
            return True
        cause = cause.__cause__
    return False


def _text(exception: BaseException) -> str:
    if isinstance(exception, SyntaxError):
        return str(exception.msg)
    try:
        return str(exception)
    except BaseException as error:
        return f"its text cannot be determined: {type(error).__qualname__}"


def one_line(exception: BaseException) -> str:
    """The text of an exception."""
    return shortened(_text(exception))


def shortened(text: str) -> str:
    """The text on one line, of at most MAX_TEXT characters."""
    text = " ".join(text.replace("\0", "\\0").split())
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _position(exception: BaseException, file: str) -> str:
    if isinstance(exception, SyntaxError) and exception.filename and exception.lineno:
        code = f": {exception.text.strip()}" if exception.text else ""
        return f"{os.path.basename(exception.filename)}:{exception.lineno}{code}"
    last = ""
    in_file = ""
    step: TracebackType | None = exception.__traceback__
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        last = f"{os.path.basename(name)}:{step.tb_lineno}"
        if name == file:
            in_file = last
        step = step.tb_next
    return in_file or last
