# SPDX-License-Identifier: Apache-2.0
"""Checks whether a program can be observed."""

from __future__ import annotations

import sys


class Unsupported(Exception):
    """The program cannot be observed, for the reason in the message."""


def check_interpreter() -> None:
    """Raises Unsupported for an interpreter that does not load the stable ABI."""
    if "t" in getattr(sys, "abiflags", ""):
        raise Unsupported(
            f"{sys.executable} is a free-threaded build of Python, which kymo does not support: use a build with the "
            "global interpreter lock"
        )
