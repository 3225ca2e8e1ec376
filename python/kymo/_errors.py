# SPDX-License-Identifier: Apache-2.0
"""How exceptions of a workload become the status and the message of its run."""

from __future__ import annotations

import os
import sys
import traceback
from types import TracebackType

from . import _engine

MAX_TEXT = 450  # characters; the host stores 600 bytes, and the position follows the text


class Skip(BaseException):
    """Ends the run as `skipped`, because the case is not applicable. Raised by Run.skip().

    It does not derive from Exception, so that a workload's own handlers do not catch it.
    """


class FileRejected(Exception):
    """A file that cannot be used. The message needs neither type nor position."""


def describe(exception: BaseException, file: str) -> str:
    """Returns "Type: text (file.py:LINE)" on one line. LINE is that of the last frame in `file`, otherwise of the last
    frame."""
    if isinstance(exception, FileRejected):
        return _one_line(exception)
    name = type(exception).__qualname__
    position = _position(exception, file)
    text = _one_line(exception)
    return name + (f": {text}" if text else "") + (f" ({position})" if position else "")


def report(exception: BaseException, file: str) -> tuple[int, str]:
    """Returns the status and the message for the host. Prints the traceback of a failure to stderr."""
    if isinstance(exception, Skip):
        return _engine.SKIPPED, _one_line(exception) or "the workload skipped without a reason"
    try:
        traceback.print_exception(exception)
        sys.stderr.flush()
    except Exception:  # stderr is closed, or the text of an exception cannot be determined
        pass
    return (_engine.OUT_OF_MEMORY if _is_out_of_memory(exception) else _engine.FAILED), describe(exception, file)


def _is_out_of_memory(exception: BaseException) -> bool:
    """True for errors of the allocators of Python and torch, and for errors that these caused."""
    kinds = (MemoryError, getattr(sys.modules.get("torch"), "OutOfMemoryError", MemoryError))
    cause: BaseException | None = exception
    for _ in range(100):  # causes may form a cycle
        if cause is None:
            break
        # torch has no type for the second one.
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


def _one_line(exception: BaseException) -> str:
    text = " ".join(_text(exception).replace("\0", "\\0").split())
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _position(exception: BaseException, file: str) -> str:
    if isinstance(exception, SyntaxError) and exception.filename and exception.lineno:
        return f"{os.path.basename(exception.filename)}:{exception.lineno}"
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
