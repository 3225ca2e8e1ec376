# SPDX-License-Identifier: Apache-2.0
"""Whether a program can be observed."""

from __future__ import annotations

import sys


class Unusable(Exception):
    """The program cannot be observed. The message says why."""


def check_interpreter() -> None:
    """Raises Unusable for an interpreter that does not load the stable ABI."""
    if "t" in getattr(sys, "abiflags", ""):
        raise Unusable(
            f"{sys.executable} is a free-threaded build of Python, which kymo does not support: use a build with the "
            "global interpreter lock"
        )
