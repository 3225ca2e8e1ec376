# SPDX-License-Identifier: Apache-2.0
"""How exceptions of a workload become the status and the message of its run."""

from __future__ import annotations

import sys
import traceback

from kymo_trace import _exceptions

from . import _engine


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
        return _exceptions.one_line(exception)
    return _exceptions.describe(exception, file)


def report(exception: BaseException, file: str) -> tuple[int, str]:
    """Returns the status and the message for the host. Prints the traceback of a failure to stderr."""
    if isinstance(exception, Skip):
        return _engine.SKIPPED, _exceptions.one_line(exception) or "the workload skipped without a reason"
    try:
        traceback.print_exception(exception)
        sys.stderr.flush()
    except Exception:  # stderr is closed, or the text of an exception cannot be determined
        pass
    out_of_memory = _exceptions.is_out_of_memory(exception)
    return (_engine.OUT_OF_MEMORY if out_of_memory else _engine.FAILED), describe(exception, file)
