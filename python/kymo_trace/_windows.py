# SPDX-License-Identifier: Apache-2.0
"""The windows of a program, each of which is a pass.

The key `windows` of the setting contains the first step of each window (`begins`), the number of steps between the
windows that follow the last of these (`period`, 0: none follow), and the file in which windows are requested while the
program runs (`page`, empty: none). So each process decides by itself, without a message to the supervisor per step.
"""

from __future__ import annotations

import sys
from typing import Any

from . import _program


class Windows:
    def __init__(self, setting: dict[str, Any]) -> None:
        windows = setting["windows"]
        self.begins: list[int] = list(windows["begins"])
        self.period: int = windows["period"]
        self.is_requested = bool(windows["page"])
        self.count = 0  # of windows that have begun
        if self.is_requested:
            _program.watch_windows(windows["page"])

    def steps_until_next(self, steps: int) -> int:
        """The number of steps from `steps` complete steps to the next window; 0: it begins here."""
        if self.is_requested:
            return 0 if _program.window_begins(steps) else sys.maxsize
        return max(self.begins[0] - steps, 0)

    def begin(self) -> None:
        self.count += 1
        if self.begins:
            begun = self.begins.pop(0)
            if self.period and not self.begins:
                self.begins.append(begun + self.period)

    def has_more(self) -> bool:
        return self.is_requested or bool(self.begins)
