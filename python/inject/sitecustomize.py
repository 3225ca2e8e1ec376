# SPDX-License-Identifier: Apache-2.0
"""Imported at the start of each Python process of a program that `kymo trace` observes, because its folder is in
PYTHONPATH. Lets kymo wait for torch, and imports the sitecustomize that this one hides."""

import os
import sys
import time


def _install(start_ns: int) -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [each for each in sys.path if os.path.abspath(each or ".") != folder]
    if "KYMO_TRACE" not in os.environ:
        return
    package = os.path.join(os.path.dirname(folder), "python")
    sys.path.insert(0, package)
    try:
        import kymo_trace
    finally:
        sys.path.remove(package)
    kymo_trace.install(start_ns)


def _import_hidden() -> None:
    mine = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
        if mine is not None:
            sys.modules["sitecustomize"] = mine


try:
    _install(time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW))
except Exception as error:  # not the program's concern
    print(f"kymo: the program cannot be observed: {type(error).__name__}: {error}", file=sys.stderr)
_import_hidden()
