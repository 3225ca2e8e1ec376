# SPDX-License-Identifier: Apache-2.0
"""Times of the steps after the observed ones, while nothing is recorded."""

from __future__ import annotations

import statistics
import time
from array import array

MAX_TIMES = 1_000_000  # stored, 8 bytes each


class LaterSteps:
    """Steps on the host clock, from one boundary to the next."""

    def __init__(self) -> None:
        self.count = 0
        self.times = array("q")  # ns, of the first MAX_TIMES steps
        self.begun_ns: int | None = None

    def step_begins(self) -> None:
        """Called at the begin of a step, which is the end of the previous one."""
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        if self.begun_ns is not None:
            self.count += 1
            if len(self.times) < MAX_TIMES:
                self.times.append(now - self.begun_ns)
        self.begun_ns = now

    def median_ns(self) -> int:
        """Requires a step."""
        return int(statistics.median(self.times))
