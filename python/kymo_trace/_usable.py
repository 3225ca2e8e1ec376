# SPDX-License-Identifier: Apache-2.0
"""Whether a program can be observed."""

from __future__ import annotations


class Unusable(Exception):
    """The program cannot be observed. The message says why."""
