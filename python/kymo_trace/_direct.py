# SPDX-License-Identifier: Apache-2.0
"""The forward phase of a step that computes most of its model outside of root calls.

It should last from the first differentiable operator to the backward pass. Nothing is called for an operator, so it
begins at the last point before it that is visible, such as the end of an optimizer step, and contains what the program
does between the two. Which point that is, is known from the step before: from the number of operators between points.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable


class DirectForward:
    """The functions `begin() -> bool` and `end()` begin and end the phase."""

    def __init__(self, begin: Callable[[], bool], end: Callable[[], None]) -> None:
        self.begin = begin
        self.end = end
        self.is_open = False
        self.point: Hashable = None  # the last one
        self.idle: set[Hashable] = set()  # points after which no operator was called, the last time

    def reach(self, point: Hashable, is_direct: bool) -> None:
        """Something that is visible has ended. `is_direct`: of the step before."""
        self.point = point
        if is_direct and not self.is_open and point not in self.idle:
            self.is_open = self.begin()

    def leave(self, operators: int, closes: bool = True) -> None:
        """The next thing that is visible begins, after so many operators."""
        (self.idle.discard if operators > 0 else self.idle.add)(self.point)
        if self.is_open and closes:
            self.is_open = False
            self.end()

    def step_begins(self) -> None:
        """All phases have ended with the step before."""
        self.is_open = False
